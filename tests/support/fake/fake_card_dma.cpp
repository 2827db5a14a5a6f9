// SPDX-License-Identifier: Apache-2.0
// FakeCard: the ring and what its commands do.
#include <algorithm>

#include "npu/abi/registers.hpp"
#include "tests/support/fake/fake_card.hpp"

namespace npu::test {

void FakeCard::update_status() {
  bool busy = false;
  for (const auto& [id, stream] : streams_) busy = busy || !stream.queue.empty();
  abi::DmaQueueStatus status;
  status.set<abi::DmaQueueStatus::Enabled>(enabled_ ? 1 : 0);
  status.set<abi::DmaQueueStatus::Idle>(busy ? 0 : 1);
  status.set<abi::DmaQueueStatus::Halted>(halted_ ? 1 : 0);
  set_register(abi::DmaQueueStatus::kOffset, 4, status.raw);
  set_register(abi::DmaConsumerIndex::kOffset, 4, consumer_);
}

void FakeCard::queue_control(std::uint32_t value) {
  enabled_ = (value & abi::DmaQueueControl::Enable::kMask) != 0;
  if (enabled_) {
    ++generation_;
    producer_ = consumer_ = 0;
    halted_ = fetching_ = false;
    set_register(abi::DmaDoorbell::kOffset, 4, 0);
    for (std::uint32_t id = 0; id < config_.events; ++id) {
      const auto offset = abi::event_register_offset(id);
      set_register(offset, 8, get_register(offset, 8) & abi::EventRecord::Count::kMask);
    }
  }
  update_status();
}

void FakeCard::halt() {
  halted_ = true;
  update_status();
}

void FakeCard::doorbell(std::uint32_t value) {
  if (!enabled_ || halted_) return;
  if (value >= abi::kRingEntries) {
    report_fault(abi::FaultCode::kDoorbellRange, value, {});
    return halt();
  }
  producer_ = value;
  if (fetching_ || behaviour.fetch_paused) return;
  fetching_ = true;
  scheduler_.at(scheduler_.now() + behaviour.fetch_latency, [this, generation = generation_] {
    if (generation != generation_) return;
    fetching_ = false;
    fetch();
  });
}

void FakeCard::resume_fetch() {
  behaviour.fetch_paused = false;
  fetch();
}

void FakeCard::fetch() {
  while (consumer_ != producer_ && !behaviour.fetch_paused && !halted_ && enabled_) {
    abi::DmaEntry entry;
    if (!read_ring(consumer_, entry)) {
      report_fault(abi::FaultCode::kRingFetch, get_register(abi::DmaQueueBase::kOffset, 8), {});
      return halt();
    }
    consumer_ = (consumer_ + 1) % abi::kRingEntries;
    streams_[entry.stream].queue.push_back(entry);
    start(entry.stream);
  }
  update_status();
}

bool FakeCard::read_ring(std::uint32_t slot, abi::DmaEntry& entry) {
  const auto base = get_register(abi::DmaQueueBase::kOffset, 8);
  const auto address = base + std::uint64_t{slot} * abi::kRingEntrySize;
  if (get_register(abi::DmaQueueControl::kOffset, 4) & abi::DmaQueueControl::HostMemory::kMask) {
    const auto* bytes = is_bus_master() ? host_.find(address, sizeof entry) : nullptr;
    if (!bytes) return false;
    std::memcpy(&entry, bytes, sizeof entry);
  } else {
    memory_.read(address, &entry, sizeof entry);
  }
  return true;
}

void FakeCard::start(std::uint16_t id) {
  auto& stream = streams_[id];
  if (stream.running || stream.queue.empty() || behaviour.completion_paused) return;
  stream.running = true;
  const auto end = scheduler_.now() + behaviour.command_latency(stream.queue.front());
  scheduler_.at(end, [this, id, generation = generation_] {
    if (generation != generation_) return;
    finish(id, abi::FaultCode::kNone);
  });
}

void FakeCard::complete_next(std::uint16_t stream, abi::FaultCode fault) {
  finish(stream, fault);
}

void FakeCard::finish(std::uint16_t id, abi::FaultCode fault) {
  auto& stream = streams_[id];
  if (stream.queue.empty()) return;
  const auto entry = stream.queue.front();
  stream.queue.pop_front();
  Fault found{fault, entry.source(), false};
  if (!stream.enabled) found.code = abi::FaultCode::kInvalidStream;
  if (found.code == abi::FaultCode::kNone) found = execute(entry, stream.latched_vmid);
  fault = found.code;
  if (fault != abi::FaultCode::kNone) {
    report_fault(fault, found.address, entry, stream.latched_vmid, found.write);
  }
  executed_.push_back(entry);
  ++stream.completed;
  stream.running = false;
  update_status();
  count_event(entry, fault);
  if (entry.flags & abi::kDmaFlagInterrupt) raise(stream.vector);
  start(id);
}

// Piece by piece, as the card does: what was copied before a fault stays copied.
FakeCard::Fault FakeCard::execute(const abi::DmaEntry& entry, unsigned vmid) {
  const auto size = entry.size();
  const bool inside = entry.opcode == static_cast<std::uint8_t>(abi::DmaOpcode::kDeviceToDevice);
  const bool fails = inside && behaviour.failing_copy > 0 && --behaviour.failing_copy == 0;
  for (std::uint64_t done = 0; done < size;) {
    if (fails && done > 0) return {abi::FaultCode::kPoisoned, entry.source() + done, false};
    auto part = static_cast<std::size_t>(fails ? (size + 1) / 2 : size - done);
    const auto fault = move(entry, vmid, done, part);
    if (fault.code != abi::FaultCode::kNone) return fault;
    done += part;
  }
  return {};
}

// Moves at most `part` bytes from offset `done` on; `part` becomes what was moved.
FakeCard::Fault FakeCard::move(const abi::DmaEntry& entry, unsigned vmid, std::uint64_t done,
                               std::size_t& part) {
  using abi::FaultCode;
  const auto from = entry.source() + done;
  const auto to = entry.destination() + done;
  const auto* const operation = abi::find_ring_operation(entry.opcode);
  const bool from_host = operation != nullptr && operation->source == abi::DmaSide::kHost;
  const bool to_host = operation != nullptr && operation->target == abi::DmaSide::kHost;
  FakeMmu::Translation source, destination;
  if (!from_host) {
    source = mmu_.translate(vmid, from, false);
    if (source.fault != FaultCode::kNone) return {source.fault, from, false};
    part = static_cast<std::size_t>(std::min<Bytes>(part, source.length));
  }
  if (!to_host) {
    destination = mmu_.translate(vmid, to, true);
    if (destination.fault != FaultCode::kNone) return {destination.fault, to, true};
    part = static_cast<std::size_t>(std::min<Bytes>(part, destination.length));
  }
  SparseBytes* in = &memory_;
  SparseBytes* out = &memory_;
  if (auto fault = reach(source, in); fault.code != FaultCode::kNone) {
    return {fault.code, from, false};
  }
  if (auto fault = reach(destination, out); fault.code != FaultCode::kNone) {
    return {fault.code, to, true};
  }
  if (!from_host && !to_host && in == out) {
    in->copy(source.address, destination.address, part);
    return {};
  }
  if (!from_host && !to_host) {
    std::vector<std::byte> bytes(part);
    in->read(source.address, bytes.data(), part);
    out->write(destination.address, bytes.data(), part);
    return {};
  }
  auto* host = host_.find(from_host ? from : to, part);
  if (!host) return {FaultCode::kHostAddress, from_host ? from : to, to_host};
  if (from_host) {
    out->write(destination.address, host, part);
  } else {
    in->read(source.address, host, part);
  }
  return {};
}

FakeCard::Fault FakeCard::reach(const FakeMmu::Translation& place, SparseBytes*& found) {
  using abi::FaultCode;
  if (!place.card) return {};
  auto* const peer = find_card(*place.card);
  const auto has = [](FakeCard& card, Bytes word_0, unsigned other) {
    const auto word = card.get_register(word_0 + abi::HccsWord::offset_of(other), 8);
    return (word & abi::HccsWord::bit_of(other)) != 0;
  };
  const bool linked = has(*this, abi::HccsLinks::kOffset, *place.card);
  if (peer == nullptr || !linked) return {FaultCode::kNoPeer, 0, false};
  if (!has(*peer, abi::HccsAccess::kOffset, config_.index)) {
    return {FaultCode::kPeerRefused, 0, false};
  }
  found = &peer->memory_;
  return {};
}

void FakeCard::count_event(const abi::DmaEntry& entry, abi::FaultCode fault) {
  if (entry.event >= config_.events) return;
  const auto offset = abi::event_register_offset(entry.event);
  abi::EventRecord record{get_register(offset, 8)};
  record.complete(fault);
  set_register(offset, 8, record.raw);
  const auto base = get_register(abi::EventRecordBase::kOffset, 8);
  if (base == 0 || behaviour.records_lost || !is_bus_master()) return;
  auto* bytes = host_.find(base + std::uint64_t{entry.event} * 8, 8);
  if (bytes) std::memcpy(bytes, &record.raw, 8);
}

void FakeCard::report_fault(abi::FaultCode code, std::uint64_t address, const abi::DmaEntry& entry,
                            unsigned vmid, bool write) {
  const auto status = get_register(abi::FaultStatus::kOffset, 4);
  if (status & abi::FaultStatus::Valid::kMask) {
    return set_register(abi::FaultStatus::kOffset, 4, status | abi::FaultStatus::Overflow::kMask);
  }
  set_register(abi::FaultStatus::kOffset, 4, abi::FaultStatus::Valid::kMask);
  set_register(abi::FaultCodeRegister::kOffset, 4,
               std::uint32_t{entry.opcode} << 16 | static_cast<std::uint32_t>(code));
  set_register(abi::FaultAddress::kOffset, 8, address);
  set_register(abi::FaultInfo::kOffset, 4, consumer_ << 16 | entry.stream);
  set_register(abi::FaultAccess::kOffset, 4, vmid | (write ? 0x100 : 0));
}

}  // namespace npu::test
