// SPDX-License-Identifier: Apache-2.0
// Queue slot: fetching and decoding, and the order in which entries start.
#include "model/command/queue_slot.hpp"

#include <algorithm>
#include <cstring>

#include "model/command/dispatcher.hpp"
#include "model/command/scheduler.hpp"
#include "model/core/bus_page.hpp"

namespace npu::model {

using abi::FaultCode;
using abi::QueueOpcode;
using platform::Activity;

namespace {

// Opcodes that are about what came before them.
bool implies_barrier(QueueOpcode opcode) {
  return opcode == QueueOpcode::kEventRecord || opcode == QueueOpcode::kNotify ||
         opcode == QueueOpcode::kBarrier || opcode == QueueOpcode::kTimestamp;
}

}  // namespace

QueueSlot::QueueSlot(CommandShared& shared, unsigned number)
    : shared_(shared),
      number_(number),
      track_(shared.sim.recorder.track("card" + std::to_string(shared.registers.device_index()) +
                                       ".command.slot" + std::to_string(number))),
      buffer_(2 * std::size_t{shared.config.command.fetch_depth}) {}

bool QueueSlot::idle() const {
  return state_ == State::kActive && open_ == 0 && current_ == nullptr && !fetching_ &&
         queue_->mqd.read_index == queue_->mqd.write_index;
}

void QueueSlot::note_idle() {
  if (state_ != State::kActive || !idle()) return;
  idle_since_ = sim_now();
  shared_.scheduler->slot_changed();
}

void QueueSlot::work_added() {
  auto& mqd = queue_->mqd;
  if (state_ != State::kActive) return;
  mqd.write_index = std::max(mqd.write_index, queue_->told);
  pump();
}

void QueueSlot::pump() {
  fetch();
  decode_next();
}

void QueueSlot::fetch() {
  if (fetching_ || state_ != State::kActive) return;
  const auto& mqd = queue_->mqd;
  const std::uint64_t size = queue_->ring_size();
  const std::uint64_t place = fetched_ & (size - 1);
  const std::uint64_t address = mqd.ring_base + abi::kQueueEntrySize * place;
  const bool host = is_host(abi::kQueueRingHost);
  const Bytes request =
      host ? std::min<Bytes>(shared_.config.link.max_read_request, kBusPage) : kBusPage;
  std::uint64_t entries = std::min<std::uint64_t>(mqd.write_index - fetched_, size - place);
  entries = std::min<std::uint64_t>(entries, shared_.config.command.fetch_depth);
  entries = std::min<std::uint64_t>(
      entries, std::min(request, kBusPage - address % kBusPage) / abi::kQueueEntrySize);
  const std::uint64_t room = buffer_.size() - (fetched_ - mqd.read_index);
  if (entries == 0 || room < entries) return;
  fetching_ = true;
  ++shared_.statistics.fetches;
  shared_.memory.read<&QueueSlot::fetched>(queue_->place(abi::kQueueRingHost, address),
                                           entries * abi::kQueueEntrySize,
                                           shared_.cause(*queue_, fetched_), *this, fetched_);
}

void QueueSlot::fetched(const Answer& answer, std::uint64_t first) {
  fetching_ = false;
  if (stopping()) return check_out();
  if (!answer.ok()) {
    return fault({FaultCode::kRingFetch, answer.address, queue_->mqd.vmid, false}, answer.host,
                 nullptr);
  }
  const std::uint64_t entries = answer.length / abi::kQueueEntrySize;
  for (std::uint64_t i = 0; i < entries; ++i) {
    std::memcpy(&buffer_[(first + i) % buffer_.size()], answer.data + i * abi::kQueueEntrySize,
                abi::kQueueEntrySize);
  }
  fetched_ = first + entries;
  shared_.sim.emit(track_, Activity::kQueueFetch, answer.issued, sim_now(),
                   shared_.cause(*queue_, first), answer.length, entries);
  pump();
}

// One entry is decoded ahead of those that have been taken.
void QueueSlot::decode_next() {
  if (decoding_ || current_ != nullptr || state_ != State::kActive) return;
  if (queue_->mqd.read_index == fetched_) return note_idle();
  decoding_ = true;
  decode_since_ = sim_now();
  shared_.sim.agenda.at<&QueueSlot::decoded>(sim_now() + ticks(shared_.config.command.decode),
                                             *this, generation_);
}

void QueueSlot::decoded(std::uint64_t generation) {
  if (generation != generation_) return;
  decoding_ = false;
  if (stopping()) return;
  const std::uint64_t index = queue_->mqd.read_index;
  auto& command = shared_.commands.allocate();
  command.slot = this;
  command.entry = buffer_[index % buffer_.size()];
  command.index = index;
  command.cause = shared_.cause(*queue_, index);
  command.decoded = sim_now();
  current_ = &command;
  shared_.sim.emit(track_, Activity::kQueueDecode, decode_since_, sim_now(), command.cause, 0,
                   queue_->mqd.queue_id);
  try_start();
}

bool QueueSlot::well_formed(const abi::QueueEntry& entry) const {
  const auto opcode = static_cast<QueueOpcode>(entry.opcode);
  if (entry.format != abi::kQueueEntryFormat || (entry.flags & ~abi::kEntryFlags) != 0 ||
      abi::to_string(opcode) == "?") {
    return false;
  }
  if ((entry.flags & abi::kEntryHostAddress) != 0 && opcode != QueueOpcode::kTimestamp) {
    return false;
  }
  if (const auto* const operation = abi::find_dma_operation(entry.opcode)) {
    if (operation->source != abi::DmaSide::kPattern) return entry.get<abi::CopyPayload>().size != 0;
    const auto fill = entry.get<abi::FillPayload>();
    return fill.size != 0 && fill.size % 4 == 0 && fill.destination % 4 == 0;
  }
  switch (opcode) {
    case QueueOpcode::kLaunchAiCore:
    case QueueOpcode::kLaunchAicpu: {
      const auto launch = entry.get<abi::LaunchPayload>();
      return launch.blocks != 0 && launch.arguments % abi::kQueueEntrySize == 0 &&
             launch.image % abi::kImageAlignment == 0 &&
             launch.argument_bytes <= abi::kMaxArgumentBytes;
    }
    case QueueOpcode::kEventWait:
      return entry.get<abi::WaitPayload>().condition <=
             static_cast<std::uint32_t>(abi::WaitCondition::kNotEqual);
    case QueueOpcode::kTimestamp:
      return entry.get<abi::TimestampPayload>().address % 8 == 0;
    default:
      return true;
  }
}

// Whether something before the decoded entry has to end first.
bool QueueSlot::held_up() const {
  const auto& entry = current_->entry;
  const bool barrier = (entry.flags & abi::kEntryBarrier) != 0 || is_host(abi::kQueueInOrder) ||
                       implies_barrier(current_->opcode());
  return (barrier && working_ > 0) || open_ >= shared_.config.command.window;
}

void QueueSlot::try_start() {
  if (current_ == nullptr || with_dispatcher_ || parked_ || reading_signal_ || stopping()) return;
  if (kernel_ != nullptr || held_up()) return;
  auto& command = *current_;
  command.eligible = sim_now();
  if (command.eligible > command.decoded) {
    shared_.sim.emit(track_, Activity::kQueueWait, command.decoded, command.eligible, command.cause,
                     0, queue_->mqd.queue_id);
  }
  if (!well_formed(command.entry)) {
    return fail(command, {FaultCode::kMalformedEntry, command.index, queue_->mqd.vmid, false},
                false);
  }
  start(command);
}

// From here on the card has its own copy, and the entry's place in the ring is free.
void QueueSlot::take(QueueCommand& command) {
  sc_assert(current_ == &command);
  current_ = nullptr;
  command.taken = true;
  ++queue_->mqd.read_index;
  ++open_;
  ++working_;
  fetch();
  decode_next();
}

}  // namespace npu::model
