// SPDX-License-Identifier: Apache-2.0
#include "model/dma/ring_front_end.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/core/bus_page.hpp"
#include "model/core/work_watch.hpp"
#include "npu/base/checked.hpp"
#include "npu/platform/trace.hpp"

namespace npu::model {

RingFrontEnd::RingFrontEnd(CardRegisters& registers, Dma& dma)
    : registers_(registers),
      dma_(dma),
      shared_(dma.shared()),
      agent_{static_cast<std::uint8_t>(registers.function()), 0},
      track_(shared_.sim.recorder.track(registers.track_prefix() + ".dma")),
      bindings_(shared_.config.streams) {
  sc_assert(shared_.config.dma.fetch_batch <= kMaxBatch);
  dma.attach(*this);
  auto& bank = registers.bank();
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
  epoch_ = (epoch_ + 1) & 0xFF'FFFF;
  std::fill(bindings_.begin(), bindings_.end(), Binding{});
  commands_.clear();
  free_.clear();
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
  auto& bank = registers_.bank();
  host_memory_ = control.get<abi::DmaQueueControl::HostMemory>() != 0;
  base_ = align_down(bank.get<abi::DmaQueueBase>().raw, kBusPage);
  halted_ = false;
  producer_ = consumer_ = 0;
  position_ = 0;
  bank.set(abi::DmaConsumerIndex{});
  bank.set(abi::DmaDoorbell{});
  registers_.events().clear_faults();
}

void RingFrontEnd::doorbell_written(abi::DmaDoorbell doorbell) {
  if (!enabled_ || halted_) return;
  ++shared_.statistics.doorbells;
  tell(doorbell);
  if (doorbell.raw >= abi::kRingEntries) {
    halt(abi::FaultCode::kDoorbellRange, doorbell.raw);
    return;
  }
  shared_.sim.agenda.at<&RingFrontEnd::doorbell_decoded>(
      sim_now() + ticks(shared_.config.dma.doorbell_decode), *this,
      std::uint64_t{generation_} << 32 | doorbell.raw);
}

void RingFrontEnd::tell(abi::DmaDoorbell doorbell) const {
  const auto used = abi::ring_used(doorbell.raw, consumer_);
  if (detail::work_watch == nullptr || used == 0) return;
  WorkWatch::Doorbell told;
  told.device = registers_.device_index();
  told.function = agent_.function;
  told.ring = true;
  told.value = doorbell.raw;
  told.last = position_ + used - 1;
  detail::work_watch->rung(told);
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
  if (!host_memory_ && !registers_.partition().has_memory(address, length)) {
    halt(abi::FaultCode::kRingFetch, address);
    return;
  }
  fetching_ = true;
  ++shared_.statistics.fetches;
  const auto unit = static_cast<std::uint8_t>(RequestTag::kFrontEnds + agent_.function);
  const RequestTag tag{unit, RequestTag::kFetch, epoch_, generation_};
  if (host_memory_) {
    shared_.ports.read_host(tag, agent_, address, length, cause(position_));
  } else {
    const auto space = space_of(agent_.function, abi::kVmidPhysical);
    shared_.ports.fetch_device(tag, space, address, length, cause(position_));
  }
}

void RingFrontEnd::fetched(tlm::tlm_generic_payload& trans, const RequestTag& tag) {
  if (tag.epoch != epoch_ || tag.slot != (generation_ & 0xFF'FFFF)) return;
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
  return dma_.least_loaded(agent_.function);
}

// Registers are looked at now; what the engine finds wrong comes after that.
abi::FaultCode RingFrontEnd::check(const DmaRequest& request, const abi::DmaEntry& entry) const {
  const auto& streams = registers_.streams();
  if (request.operation == nullptr) return abi::FaultCode::kInvalidOpcode;
  if (entry.stream >= streams.size() || !streams.enabled(entry.stream) ||
      streams.vmid(entry.stream) >= abi::kVmids) {
    return abi::FaultCode::kInvalidStream;
  }
  const bool no_event = entry.event != abi::kNoEvent && entry.event >= registers_.events().size();
  return no_event && request.has_sound_size() ? abi::FaultCode::kInvalidEvent
                                              : abi::FaultCode::kNone;
}

DmaRequest RingFrontEnd::request_of(const abi::DmaEntry& entry) {
  DmaRequest request;
  request.client = this;
  request.cause = cause(position_);
  request.operation = abi::find_ring_operation(entry.opcode);
  request.opcode = entry.opcode;
  request.function = agent_.function;
  request.source = entry.source();
  request.destination = entry.destination();
  request.size = entry.size();
  request.stream = entry.stream;
  request.ordered = request.announced = true;
  request.dispatched = sim_now();
  request.fault.code = check(request, entry);
  if (!request.fault.failed()) {
    request.space = space_of(agent_.function, registers_.streams().vmid(entry.stream));
  }
  return request;
}

bool RingFrontEnd::hand_over(const abi::DmaEntry& entry) {
  auto& held = dma_.held();
  const bool follows = held.holds(agent_.function, entry.stream);
  const std::size_t index = follows ? 0 : choose(entry);
  if (follows ? held.count(agent_.function) >= kMostHeld : dma_.engine(index).full()) return false;
  auto request = request_of(entry);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(commands_.size()));
    commands_.emplace_back();
  }
  request.context = free_.back();
  free_.pop_back();
  commands_[request.context] = {entry, static_cast<std::uint16_t>(consumer_), position_};
  if (entry.stream < bindings_.size()) {
    auto& binding = bindings_[entry.stream];
    binding.engine = static_cast<std::uint8_t>(index);
    ++binding.commands;
    registers_.streams().command_fetched(entry.stream);
  }
  ++batch_next_;
  ++position_;
  ++in_engines_;
  consumer_ = (consumer_ + 1) % abi::kRingEntries;
  registers_.bank().set(abi::DmaConsumerIndex{}.set<abi::DmaConsumerIndex::Index>(consumer_));
  if (follows) {
    held.follow(std::move(request));
  } else {
    dma_.engine(index).accept(request);
  }
  return true;
}

void RingFrontEnd::dma_ended(const DmaRequest& request) {
  const auto& command = commands_[request.context];
  const auto& entry = command.entry;
  if (detail::work_watch != nullptr) {
    detail::work_watch->transferred(WorkWatch::Transfer{request.space, registers_.device_index(),
                                                        agent_.function, command.position, entry,
                                                        request.cause});
  }
  auto& streams = registers_.streams();
  const bool stream_exists = entry.stream < streams.size();
  if (stream_exists) streams.command_completed(entry.stream, request.fault.code);
  count_event(entry.event, request);
  if (request.fault.failed()) {
    registers_.report({request.fault.code, request.fault.address, entry.opcode, request.engine,
                       entry.stream, command.ring_index, request.cause, vmid_of(request.fault.vmid),
                       request.fault.write});
  }
  if ((entry.flags & abi::kDmaFlagInterrupt) != 0 && stream_exists) {
    registers_.raise(streams.vector(entry.stream), request.cause);
  }
}

// The record is posted behind the data of the command and in front of its interrupt. One that the
// function may not send is lost: the counter in the card has the truth, and the next record too.
void RingFrontEnd::count_event(std::uint32_t event, const DmaRequest& request) {
  auto& events = registers_.events();
  if (event >= events.size()) return;  // none wanted, or reported as kInvalidEvent
  const auto record = events.complete(event, request.fault.code);
  const auto base = registers_.bank().get<abi::EventRecordBase>().raw;
  if (base == 0) return;
  auto& trans = shared_.ports.make_posted_write(
      agent_, base + std::uint64_t{abi::kEventStride} * event, sizeof record.raw, request.cause);
  std::memcpy(trans.get_data_ptr(), &record.raw, sizeof record.raw);
  shared_.ports.post(trans);
}

void RingFrontEnd::dma_left(const DmaRequest& request) {
  --in_engines_;
  if (request.stream < bindings_.size()) --bindings_[request.stream].commands;
  free_.push_back(static_cast<std::uint32_t>(request.context));
}

void RingFrontEnd::dma_free() {
  if (held_up()) dispatch();
}

void RingFrontEnd::host_write_lost(std::uint64_t address) {
  if (enabled_ && !halted_) halt(abi::FaultCode::kHostWriteLost, address);
}

void RingFrontEnd::halt(abi::FaultCode code, std::uint64_t address) {
  stop();
  halted_ = true;
  ReportedFault fault;
  fault.code = code;
  fault.address = address;
  fault.ring_index = static_cast<std::uint16_t>(consumer_);
  fault.cause = cause(position_);
  registers_.report(fault);
}

std::uint64_t RingFrontEnd::cause(std::uint64_t position) const {
  return platform::dma_cause(registers_.device_index(), position);
}

}  // namespace npu::model
