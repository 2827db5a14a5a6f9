// SPDX-License-Identifier: Apache-2.0
#include "model/dma/ring_front_end.hpp"

#include <algorithm>
#include <cstring>

#include "model/core/bus_page.hpp"
#include "model/registers/card_registers.hpp"
#include "npu/base/checked.hpp"
#include "npu/platform/trace.hpp"

namespace npu::model {
namespace {}  // namespace

RingFrontEnd::RingFrontEnd(DmaShared& shared)
    : shared_(shared),
      track_(shared.sim.recorder.track("card" + std::to_string(shared.registers.device_index()) +
                                       ".dma")),
      bindings_(shared.config.streams) {
  sc_assert(shared.config.dma.fetch_batch <= kMaxBatch);
}

void RingFrontEnd::install_hooks() {
  auto& bank = shared_.registers.bank();
  bank.on_write<abi::DmaQueueControl>([this](abi::DmaQueueControl v) { control_written(v); });
  bank.on_write<abi::DmaDoorbell>([this](abi::DmaDoorbell v) { doorbell_written(v); });
  bank.on_read<abi::DmaQueueStatus>([this] { return status(); });
}

void RingFrontEnd::stop() {
  ++generation_;
  fetching_ = decoding_ = false;
  batch_size_ = batch_next_ = 0;
}

void RingFrontEnd::reset() {
  stop();
  enabled_ = halted_ = false;
  producer_ = consumer_ = in_engines_ = 0;
  position_ = 0;
  std::fill(bindings_.begin(), bindings_.end(), Binding{});
}

abi::DmaQueueStatus RingFrontEnd::status() const {
  using Status = abi::DmaQueueStatus;
  return Status{}
      .set<Status::Enabled>(enabled_ ? 1 : 0)
      .set<Status::Idle>(idle() ? 1 : 0)
      .set<Status::Halted>(halted_ ? 1 : 0);
}

void RingFrontEnd::control_written(abi::DmaQueueControl control) {
  stop();
  enabled_ = control.get<abi::DmaQueueControl::Enable>() != 0;
  if (!enabled_) return;
  auto& bank = shared_.registers.bank();
  host_memory_ = control.get<abi::DmaQueueControl::HostMemory>() != 0;
  base_ = align_down(bank.get<abi::DmaQueueBase>().raw, kBusPage);
  halted_ = false;
  producer_ = consumer_ = 0;
  position_ = 0;
  bank.set(abi::DmaConsumerIndex{});
  bank.set(abi::DmaDoorbell{});
  shared_.registers.events().clear_faults();
}

void RingFrontEnd::doorbell_written(abi::DmaDoorbell doorbell) {
  if (!enabled_ || halted_) return;
  ++shared_.statistics.doorbells;
  if (doorbell.raw >= abi::kRingEntries) {
    halt(abi::FaultCode::kDoorbellRange, doorbell.raw);
    return;
  }
  shared_.sim.agenda.at<&RingFrontEnd::doorbell_decoded>(
      sim_now() + ticks(shared_.config.dma.doorbell_decode), *this,
      std::uint64_t{generation_} << 32 | doorbell.raw);
}

void RingFrontEnd::doorbell_decoded(std::uint64_t argument) {
  if (argument >> 32 != generation_) return;
  producer_ = static_cast<std::uint32_t>(argument);
  fetch();
}

// Entries one read may bring: up to the wrap of the ring, and what one link request may carry.
unsigned RingFrontEnd::batch_limit(std::uint64_t address) const {
  std::uint64_t limit =
      std::min<std::uint64_t>(shared_.config.dma.fetch_batch, abi::ring_used(producer_, consumer_));
  limit = std::min<std::uint64_t>(limit, abi::kRingEntries - consumer_);
  if (host_memory_) {
    const auto request =
        std::min(shared_.config.link.max_read_request, kBusPage - address % kBusPage);
    limit = std::min<std::uint64_t>(limit, request / abi::kRingEntrySize);
  }
  return static_cast<unsigned>(limit);
}

void RingFrontEnd::fetch() {
  if (fetching_ || batch_next_ != batch_size_ || producer_ == consumer_) return;
  const std::uint64_t address = base_ + std::uint64_t{abi::kRingEntrySize} * consumer_;
  const Bytes length = Bytes{abi::kRingEntrySize} * batch_limit(address);
  if (!host_memory_ && !range_fits(address, length, shared_.config.hbm.installed)) {
    halt(abi::FaultCode::kRingFetch, address);
    return;
  }
  fetching_ = true;
  ++shared_.statistics.fetches;
  const RequestTag tag{RequestTag::kFrontEnd, RequestTag::kFetch, shared_.epoch, generation_};
  if (host_memory_) {
    shared_.ports.read_host(tag, 0, address, length, cause(position_));
  } else {
    shared_.ports.fetch_device(tag, address, length, cause(position_));
  }
}

void RingFrontEnd::fetched(tlm::tlm_generic_payload& trans, std::uint32_t generation) {
  if (generation != (generation_ & 0xFF'FFFF)) return;
  const auto& info = Transaction::of(trans);
  fetching_ = false;
  if (info.completion != Completion::kSuccess) {
    halt(abi::FaultCode::kRingFetch, trans.get_address());
    return;
  }
  batch_size_ = trans.get_data_length() / abi::kRingEntrySize;
  batch_next_ = 0;
  shared_.statistics.ring_entries += batch_size_;
  std::memcpy(batch_.data(), trans.get_data_ptr(), trans.get_data_length());
  shared_.sim.emit(track_, platform::Activity::kDescriptorFetch, info.issued, sim_now(), info.cause,
                   trans.get_data_length(), batch_size_);
  decoding_ = true;
  shared_.sim.agenda.at<&RingFrontEnd::decoded>(
      sim_now() + ticks(shared_.config.dma.descriptor_decode), *this, generation_);
}

void RingFrontEnd::decoded(std::uint64_t generation) {
  if (generation != generation_) return;
  decoding_ = false;
  dispatch();
}

// In ring order: an entry that finds its engine full holds up those behind it.
void RingFrontEnd::dispatch() {
  while (batch_next_ != batch_size_) {
    if (!hand_over(batch_[batch_next_])) return;
  }
  fetch();
}

// The engine that still has commands of the stream, else the least loaded.
std::size_t RingFrontEnd::choose(const abi::DmaEntry& entry) const {
  if (entry.stream < bindings_.size() && bindings_[entry.stream].commands > 0) {
    return bindings_[entry.stream].engine;
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < engines_->size(); ++i) {
    if ((*engines_)[i]->load() < (*engines_)[best]->load()) best = i;
  }
  return best;
}

bool RingFrontEnd::hand_over(const abi::DmaEntry& entry) {
  const std::size_t index = choose(entry);
  auto& engine = *(*engines_)[index];
  if (engine.full()) return false;
  DmaCommand command;
  command.entry = entry;
  command.ring_index = static_cast<std::uint16_t>(consumer_);
  command.cause = cause(position_);
  command.dispatched = sim_now();
  if (entry.stream < bindings_.size()) {
    auto& binding = bindings_[entry.stream];
    binding.engine = static_cast<std::uint8_t>(index);
    ++binding.commands;
    shared_.registers.streams().command_fetched(entry.stream);
  }
  ++batch_next_;
  ++position_;
  ++in_engines_;
  consumer_ = (consumer_ + 1) % abi::kRingEntries;
  shared_.registers.bank().set(
      abi::DmaConsumerIndex{}.set<abi::DmaConsumerIndex::Index>(consumer_));
  engine.accept(command);
  return true;
}

void RingFrontEnd::command_left(const DmaCommand& command) {
  --in_engines_;
  if (command.entry.stream < bindings_.size()) --bindings_[command.entry.stream].commands;
}

void RingFrontEnd::engine_free() {
  if (held_up()) dispatch();
}

void RingFrontEnd::host_write_lost(std::uint64_t address) {
  if (enabled_ && !halted_) halt(abi::FaultCode::kHostWriteLost, address);
}

void RingFrontEnd::halt(abi::FaultCode code, std::uint64_t address) {
  stop();
  halted_ = true;
  FaultReport fault;
  fault.code = code;
  fault.address = address;
  fault.ring_index = static_cast<std::uint16_t>(consumer_);
  fault.cause = cause(position_);
  shared_.registers.report(fault);
}

std::uint64_t RingFrontEnd::cause(std::uint64_t position) const {
  return platform::dma_cause(shared_.registers.device_index(), position);
}

}  // namespace npu::model
