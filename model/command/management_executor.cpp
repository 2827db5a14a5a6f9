// SPDX-License-Identifier: Apache-2.0
#include "model/command/management_executor.hpp"

#include <cstring>

#include "model/command/queue_slot.hpp"
#include "model/command/scheduler.hpp"
#include "model/command/signal_unit.hpp"
#include "model/core/work_watch.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::ManagementOpcode;
using abi::ManagementStatus;

namespace {

constexpr Bytes kScrubRead = 4096;
constexpr unsigned kScrubReads = 32;  // at a time; assumed

}  // namespace

void ManagementExecutor::execute(const abi::ManagementCommand& command) {
  command_ = command;
  ++commands_;
  status_ = ManagementStatus::kSuccess;
  const bool sound = command_.format == 1 && command_.mode <= 1 && command_.scope <= 2 &&
                     (command_.flags & ~abi::kManagementInterrupt) == 0 &&
                     is_aligned(command_.fence_address, sizeof(abi::ManagementResponse));
  if (!sound) return owner_.command_done(ManagementStatus::kInvalidCommand);
  switch (static_cast<ManagementOpcode>(command_.opcode)) {
    case ManagementOpcode::kMapProcess:
      return map_process();
    case ManagementOpcode::kUnmapProcess:
      return owner_.command_done(function_.table.unmap(command_.pasid));
    case ManagementOpcode::kAddQueue:
      return add_queue();
    case ManagementOpcode::kRemoveQueue:
    case ManagementOpcode::kUpdateQueue:
      command_.scope = static_cast<std::uint8_t>(abi::ManagementScope::kQueue);
      [[fallthrough]];
    case ManagementOpcode::kSuspend:
      select();
      return status_ == ManagementStatus::kSuccess ? take_out() : owner_.command_done(status_);
    case ManagementOpcode::kResume:
      stays_suspended_ = false;
      select();
      return status_ == ManagementStatus::kSuccess ? read_again() : owner_.command_done(status_);
    case ManagementOpcode::kQueryQueue:
      return query();
    case ManagementOpcode::kScrub:
      return scrub();
    case ManagementOpcode::kFence:
      return owner_.command_done(ManagementStatus::kSuccess);
  }
  owner_.command_done(ManagementStatus::kInvalidCommand);
}

void ManagementExecutor::reset() {
  waiting_out_ = false;
  drop_answers();
}

// --- processes -----------------------------------------------------------------------------

void ManagementExecutor::map_process() {
  const auto status = function_.table.map(command_, shared_.config.pci.msix_vectors);
  if (status != ManagementStatus::kSuccess || command_.address == 0)
    return owner_.command_done(status);
  const auto entry = abi::ContextEntry::root(command_.address);
  const auto table =
      align_down(function_.registers.bank().get<abi::MmuContextBase>().raw, abi::kTableSize);
  shared_.memory.write<&ManagementExecutor::context_written>(
      function_.local(table + sizeof entry.raw * command_.vmid), &entry.raw, sizeof entry.raw, 0,
      *this, drops_);
}

void ManagementExecutor::context_written(const Answer& answer, std::uint64_t drops) {
  if (drops != drops_) return;
  if (!answer.ok()) function_.table.unmap(command_.pasid);
  owner_.command_done(answer.ok() ? ManagementStatus::kSuccess : ManagementStatus::kInvalidProcess);
}

// --- queues --------------------------------------------------------------------------------

void ManagementExecutor::add_queue() {
  if (!is_aligned(command_.address, abi::kQueueDescriptorSize)) {
    return owner_.command_done(ManagementStatus::kInvalidDescriptor);
  }
  shared_.memory.read<&ManagementExecutor::descriptor_read>(
      function_.local(command_.address), abi::kQueueDescriptorSize, 0, *this, drops_);
}

void ManagementExecutor::descriptor_read(const Answer& answer, std::uint64_t drops) {
  if (drops != drops_) return;
  if (!answer.ok()) return owner_.command_done(ManagementStatus::kInvalidDescriptor);
  abi::QueueDescriptor mqd;
  std::memcpy(&mqd, answer.data, sizeof mqd);
  if (mqd.queue_id != command_.queue)
    return owner_.command_done(ManagementStatus::kInvalidDescriptor);
  const auto status = function_.table.add(mqd, command_.address, shared_.config.pci.msix_vectors);
  if (status == ManagementStatus::kSuccess) {
    auto& queue = *function_.table.queue(mqd.queue_id);
    if (detail::work_watch != nullptr) detail::work_watch->created(function_.cause(queue, 0));
    shared_.scheduler->consider(queue);
  }
  owner_.command_done(status);
}

// The queues that a command concerns.
void ManagementExecutor::select() {
  selected_.clear();
  selected_next_ = 0;
  switch (static_cast<abi::ManagementScope>(command_.scope)) {
    case abi::ManagementScope::kQueue: {
      auto* queue = function_.table.queue(command_.queue);
      if (queue == nullptr) {
        status_ = ManagementStatus::kInvalidQueue;
      } else {
        selected_.push_back(queue);
      }
      return;
    }
    case abi::ManagementScope::kProcess:
      if (function_.table.process(command_.pasid) == nullptr) {
        status_ = ManagementStatus::kInvalidProcess;
        return;
      }
      [[fallthrough]];
    case abi::ManagementScope::kAll:
      function_.table.for_each([this](HardwareQueue& queue) {
        const bool all = command_.scope == static_cast<std::uint8_t>(abi::ManagementScope::kAll);
        if (all || queue.process->pasid == command_.pasid) selected_.push_back(&queue);
      });
  }
}

void ManagementExecutor::take_out() {
  const auto how = static_cast<abi::PreemptMode>(command_.mode) == abi::PreemptMode::kReset
                       ? QueueSlot::Leave::kReset
                       : QueueSlot::Leave::kDrain;
  waiting_out_ = true;
  stays_suspended_ =
      static_cast<ManagementOpcode>(command_.opcode) == ManagementOpcode::kUpdateQueue &&
      selected_.front()->suspended;
  for (auto* queue : selected_) {
    queue->suspended = true;
    shared_.scheduler->withdraw(*queue);
    if (queue->slot != nullptr) queue->slot->leave(how);
  }
  if (all_out()) return taken_out();
  if (how == QueueSlot::Leave::kReset) return;
  drains_.start(this_command());
}

// What somebody's kernel takes is not for others to wait for: their commands are behind this one.
void ManagementExecutor::timed_out(std::uint64_t) {
  waiting_out_ = false;
  owner_.command_done(ManagementStatus::kNotDrained);
}

bool ManagementExecutor::all_out() const {
  for (const auto* queue : selected_) {
    if (!queue->out()) return false;
  }
  return true;
}

void ManagementExecutor::queue_unloaded() {
  if (waiting_out_ && all_out()) taken_out();
}

void ManagementExecutor::taken_out() {
  waiting_out_ = false;
  if (static_cast<ManagementOpcode>(command_.opcode) == ManagementOpcode::kUpdateQueue) {
    return read_again();
  }
  if (static_cast<ManagementOpcode>(command_.opcode) == ManagementOpcode::kRemoveQueue) {
    shared_.forget_kernel(*selected_.front());
    function_.table.remove(*selected_.front());
    return owner_.command_done(ManagementStatus::kSuccess);
  }
  for (auto* queue : selected_) {
    if (!queue->faulted) {
      queue->mqd.state = static_cast<std::uint32_t>(abi::QueueState::kSuspended);
    }
  }
  owner_.command_done(ManagementStatus::kSuccess);
}

// One after another; those whose descriptor has become invalid stay suspended.
void ManagementExecutor::read_again() {
  for (; selected_next_ < selected_.size(); ++selected_next_) {
    auto& queue = *selected_[selected_next_];
    if (queue.suspended && queue.out()) break;
    queue.suspended = false;  // it has not been, or has not drained: then all is read when it has
  }
  if (selected_next_ == selected_.size()) return owner_.command_done(status_);
  const auto& queue = *selected_[selected_next_];
  shared_.memory.read<&ManagementExecutor::driver_half_read>(
      function_.local(queue.address), abi::kQueueDescriptorSize, 0, *this, drops_);
}

void ManagementExecutor::driver_half_read(const Answer& answer, std::uint64_t drops) {
  if (drops != drops_) return;
  auto& queue = *selected_[selected_next_++];
  abi::QueueDescriptor mqd = queue.mqd;
  if (answer.ok()) std::memcpy(static_cast<void*>(&mqd), answer.data, abi::kQueueStateOffset);
  mqd.write_index = queue.write_index();
  const bool same = mqd.queue_id == queue.mqd.queue_id && mqd.doorbell == queue.mqd.doorbell;
  if (!answer.ok() || !same ||
      !HardwareQueueTable::valid(mqd, *queue.process, shared_.config.pci.msix_vectors)) {
    status_ = ManagementStatus::kInvalidDescriptor;
  } else {
    shared_.scheduler->withdraw(queue);                     // its priority may change
    if (queue.wait.active) shared_.signals->unpark(queue);  // its signals may be others
    queue.mqd = mqd;
    queue.checked = UINT64_MAX;
    queue.suspended = stays_suspended_;
    if (!queue.faulted) {
      queue.mqd.state = static_cast<std::uint32_t>(queue.suspended ? abi::QueueState::kSuspended
                                                                   : abi::QueueState::kIdle);
    }
    shared_.scheduler->consider(queue);
  }
  read_again();
}

void ManagementExecutor::query() {
  auto* queue = function_.table.queue(command_.queue);
  if (queue == nullptr) return owner_.command_done(ManagementStatus::kInvalidQueue);
  auto mqd = queue->mqd;
  mqd.write_index = queue->write_index();
  if (queue->slot != nullptr) mqd.active_ns += queue->slot->time_active() / 1000;
  if (!queue->faulted && !queue->suspended) {
    const bool works = queue->work_left() || (queue->slot != nullptr && queue->slot->busy());
    mqd.state =
        static_cast<std::uint32_t>(works ? abi::QueueState::kRunning : abi::QueueState::kIdle);
  }
  queue->mqd.state = mqd.state;
  shared_.memory.write<&ManagementExecutor::state_written>(
      function_.local(queue->address + abi::kQueueStateOffset),
      reinterpret_cast<const unsigned char*>(&mqd) + abi::kQueueStateOffset,
      abi::kQueueDescriptorSize - abi::kQueueStateOffset, 0, *this, drops_);
}

// --- memory --------------------------------------------------------------------------------

void ManagementExecutor::scrub() {
  const Bytes memory = function_.registers.partition().memory;
  const bool sound = is_aligned(command_.address, kScrubRead) &&
                     is_aligned(command_.size, kScrubRead) && command_.size != 0 &&
                     range_fits(command_.address, command_.size, memory);
  if (!sound) return owner_.command_done(ManagementStatus::kInvalidCommand);
  scrub_next_ = command_.address;
  scrub_end_ = command_.address + command_.size;
  scrub_reads_ = 0;
  scrub_on();
}

void ManagementExecutor::scrub_on() {
  for (; scrub_reads_ < kScrubReads && scrub_next_ != scrub_end_; scrub_next_ += kScrubRead) {
    ++scrub_reads_;
    shared_.memory.read<&ManagementExecutor::scrubbed>(function_.local(scrub_next_), kScrubRead, 0,
                                                       *this, drops_);
  }
  if (scrub_reads_ == 0) owner_.command_done(ManagementStatus::kSuccess);
}

void ManagementExecutor::scrubbed(const Answer&, std::uint64_t drops) {
  if (drops != drops_) return;
  --scrub_reads_;
  scrub_on();
}

void ManagementExecutor::state_written(const Answer&, std::uint64_t drops) {
  if (drops == drops_) owner_.command_done(ManagementStatus::kSuccess);
}

}  // namespace npu::model
