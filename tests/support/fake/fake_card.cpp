// SPDX-License-Identifier: Apache-2.0
// FakeCard: configuration space, BAR accesses, interrupts.
#include "tests/support/fake/fake_card.hpp"

#include "npu/abi/identity.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"

namespace npu::test {

namespace pci = abi::pci;

namespace {

std::uint64_t ones(unsigned width) {
  return width == 8 ? ~0ULL : (1ULL << 8 * width) - 1;
}

}  // namespace

FakeCard::FakeCard(const FakeCardConfig& config, FakePci& pci_access, FakeHostMemory& host,
                   FakeScheduler& scheduler)
    : config_(config),
      pci_(pci_access),
      host_(host),
      scheduler_(scheduler),
      vectors_(config.vectors) {
  set_up_config_space();
  set_identity();
}

void FakeCard::set_up_config_space() {
  auto& function = pci_.add(config_.bdf);
  function.set_header(abi::kVendorId, config_.device_id, pci::kHeaderTypeEndpoint);
  function.set(pci::kClassCode + 2, 1, 0x12);
  function.set(pci::kSubsystemVendor, 2, abi::kVendorId);
  function.set(pci::kSubsystemId, 2, config_.device_id);
  const std::uint64_t base = 0x40'0000'0000 + config_.index * 0x20'0000'0000;
  function.set_bar(0, 0xC000'0000 + config_.index * 0x10000, abi::kBar0Size, pci::kBarType64);
  function.set_bar(2, base, config_.bar2_size, pci::kBarType64 | pci::kBarPrefetchable);
  msix_ = function.add_capability(pci::kCapMsix, 12);
  function.set(msix_ + pci::kMsixControl, 2, config_.vectors - 1);
  function.set_writable(msix_, 0xC0000000);
  function.set(msix_ + pci::kMsixTable, 4, abi::kMsixTableOffset);
  function.set(msix_ + pci::kMsixPba, 4, abi::kMsixPbaOffset);
  const auto express = function.add_capability(pci::kCapPciExpress, 60);
  function.set(express + pci::kExpFlags, 2, 0x0002);
  function.set(express + pci::kExpDeviceCap, 4, pci::kExpDeviceCapFlr);
}

void FakeCard::set_identity() {
  registers_.fill(std::byte{0});
  for (const auto& info : abi::kBar0Table) set_register(info.offset, info.size, info.reset);
  set_register(abi::ChipId::kOffset, 4, std::uint32_t{config_.device_id} << 16 | abi::kVendorId);
  set_register(abi::ChipRevision::kOffset, 4, abi::kAbiVersion);
  set_register(abi::AiCoreCount::kOffset, 4, config_.ai_cores);
  set_register(abi::DeviceIndex::kOffset, 4, config_.index);
  set_register(abi::HbmSize::kOffset, 8, config_.hbm_size);
  set_register(abi::StreamWindowBase::kOffset, 8, config_.hbm_size + abi::kReservedStreamOffset);
  set_register(abi::StreamCount::kOffset, 4, config_.streams);
  set_register(abi::EventCount::kOffset, 4, config_.events);
  for (unsigned card = 0; card < abi::kMaxHccsCards; ++card) {
    if (!config_.hccs_links[card]) continue;
    const auto word = abi::HccsLinks::kOffset + abi::HccsWord::offset_of(card);
    set_register(word, 8, get_register(word, 8) | abi::HccsWord::bit_of(card));
  }
  set_register(abi::DeviceStatus::kOffset, 4, abi::DeviceStatus::Ready::kMask);
  set_register(abi::QueueCapability::kOffset, 4,
               config_.doorbell_pages << 16 | config_.queue_slots);
  set_register(abi::QueueCores::kOffset, 4, config_.ai_cores);
  set_register(abi::CoreTopology::kOffset, 4, config_.ai_cores);
  set_register(abi::DoorbellBase::kOffset, 8, config_.hbm_size + abi::kReservedDoorbellOffset);
  update_status();
}

FakeQueueHost FakeCard::queue_host() {
  return {memory_,
          mmu_,
          host_,
          scheduler_,
          [this](unsigned vector) { raise(vector); },
          [this](Bytes offset, unsigned width) { return get_register(offset, width); },
          [this](Bytes offset, unsigned width, std::uint64_t value) {
            set_register(offset, width, value);
          },
          config_.vectors,
          config_.doorbell_pages,
          config_.hbm_size + abi::kReservedQueueOffset};
}

void FakeCard::reset() {
  ++generation_;
  ++reset_generation_;
  mmu_.set_context_base(0);
  set_identity();
  streams_.clear();
  queues_.reset();
  producer_ = consumer_ = 0;
  enabled_ = halted_ = fetching_ = false;
  update_status();
  if (auto* function = pci_.find(config_.bdf)) {
    function->set(pci::kCommand, 2, 0);
    function->set(msix_ + pci::kMsixControl, 2, config_.vectors - 1);
  }
}

void FakeCard::remove() {
  present_ = false;
  ++generation_;
  pci_.remove(config_.bdf);
}

std::uint64_t FakeCard::read(unsigned bar, Bytes offset, unsigned width) {
  if (!present_) return ones(width);
  return bar == abi::kRegisterBar ? get_register(offset, width) : read_memory_bar(offset, width);
}

void FakeCard::write(unsigned bar, Bytes offset, unsigned width, std::uint64_t value) {
  if (!present_) return;
  if (bar == abi::kRegisterBar) {
    write_register(offset, width, value);
  } else {
    write_memory_bar(offset, width, value);
  }
}

std::uint64_t FakeCard::get_register(Bytes offset, unsigned width) const {
  std::uint64_t value = 0;
  std::memcpy(&value, registers_.data() + offset, width);
  return value;
}

void FakeCard::set_register(Bytes offset, unsigned width, std::uint64_t value) {
  std::memcpy(registers_.data() + offset, &value, width);
}

// The ABI's table says what a write does; only registers with consequences are named here.
void FakeCard::write_register(Bytes offset, unsigned width, std::uint64_t value) {
  for (const auto& info : abi::kBar0Table) {
    if (offset < info.offset || offset >= info.offset + info.size) continue;
    if (info.access == abi::Access::kReadOnly) return;
    if (info.access == abi::Access::kWriteOneToClear) {
      set_register(offset, width, get_register(offset, width) & ~value);
      return;
    }
    if (offset == abi::MmuInvalidate::kOffset && get_register(offset, 4) >> 31) return;
    set_register(offset, width, value);
    if (offset == abi::DmaDoorbell::kOffset) doorbell(static_cast<std::uint32_t>(value));
    if (offset == abi::MmuContextBase::kOffset) mmu_.set_context_base(value);
    if (offset == abi::MmuInvalidate::kOffset) invalidate(static_cast<std::uint32_t>(value));
    queues_.register_written(offset, value);
    if (offset == abi::DmaQueueControl::kOffset) queue_control(static_cast<std::uint32_t>(value));
    return;
  }
}

// Register bits as registers.hpp has them: Vmid [7:0], Scope [9:8], Start [31].
void FakeCard::invalidate(std::uint32_t value) {
  if (!(value >> 31) || behaviour.invalidate_stuck) return;
  scheduler_.at(scheduler_.now() + behaviour.invalidate_latency, [this, value,
                                                                  generation = reset_generation_] {
    if (generation != reset_generation_) return;
    const unsigned vmid = value & 0xFF;
    switch (value >> 8 & 3) {
      case 0:
        mmu_.invalidate_all();
        break;
      case 1:
        mmu_.invalidate_space(vmid);
        break;
      case 2:
        mmu_.invalidate_range(vmid, get_register(abi::MmuInvalidateAddress::kOffset, 8),
                              get_register(abi::MmuInvalidateSize::kOffset, 8));
        break;
      default:
        break;
    }
    set_register(abi::MmuInvalidate::kOffset, 4, value & 0x7FFF'FFFF);
  });
}

std::uint64_t FakeCard::read_memory_bar(Bytes offset, unsigned width) {
  const Bytes first = config_.hbm_size + abi::kReservedStreamOffset;
  std::uint64_t value = 0;
  if (offset < first || offset >= first + config_.streams * abi::kStreamWindowSize) {
    memory_.read(offset, &value, width);
    return value;
  }
  const auto id = static_cast<std::uint16_t>((offset - first) / abi::kStreamWindowSize);
  const auto& stream = streams_[id];
  switch ((offset - first) % abi::kStreamWindowSize) {
    case abi::StreamControl::kOffset:
      return stream.enabled ? 1 : 0;
    case abi::StreamVector::kOffset:
      return stream.vector;
    case abi::StreamVmid::kOffset:
      return stream.vmid;
    case abi::StreamStatus::kOffset:
      return stream.queue.empty() ? 0 : 1;
    case abi::StreamFault::kOffset:
      return stream.fault;
    case abi::StreamCompleted::kOffset:
      return stream.completed;
    default:
      return 0;
  }
}

void FakeCard::write_memory_bar(Bytes offset, unsigned width, std::uint64_t value) {
  const Bytes first = config_.hbm_size + abi::kReservedStreamOffset;
  if (offset < first || offset >= first + config_.streams * abi::kStreamWindowSize) {
    const Bytes doorbells = config_.hbm_size + abi::kReservedDoorbellOffset;
    if (offset >= doorbells && offset - doorbells < Bytes{config_.doorbell_pages} * 4096) {
      return queues_.doorbell(offset - doorbells, width, value);
    }
    memory_.write(offset, &value, width);
    queues_.memory_written(offset);
    return;
  }
  auto& stream = streams_[static_cast<std::uint16_t>((offset - first) / abi::kStreamWindowSize)];
  switch ((offset - first) % abi::kStreamWindowSize) {
    case abi::StreamControl::kOffset:
      stream.enabled = (value & 1) != 0;
      if (stream.enabled) stream.fault = 0;
      if (stream.enabled) stream.latched_vmid = stream.vmid;
      break;
    case abi::StreamVector::kOffset:
      stream.vector = static_cast<std::uint32_t>(value);
      break;
    case abi::StreamVmid::kOffset:
      stream.vmid = static_cast<std::uint32_t>(value);
      break;
    default:
      break;
  }
}

void FakeCard::raise(unsigned number) {
  if (!present_ || behaviour.interrupts_lost || !is_msix_enabled()) return;
  number = static_cast<unsigned>(static_cast<int>(number) + behaviour.vector_offset);
  auto& vector = vectors_[number % config_.vectors];
  if (vector.masked) {
    vector.pending = true;
    return;
  }
  scheduler_.at(scheduler_.now() + behaviour.interrupt_latency, [&vector] {
    if (vector.open) ++vector.count;
  });
}

void FakeCard::mask(unsigned number) {
  vectors_[number].masked = true;
}

void FakeCard::unmask(unsigned number) {
  auto& vector = vectors_[number];
  vector.masked = false;
  if (!vector.pending) return;
  vector.pending = false;
  raise(number);
}

bool FakeCard::is_bus_master() const {
  const auto* function = pci_.find(config_.bdf);
  return function && (function->get(pci::kCommand, 2) & pci::kCommandBusMaster);
}

bool FakeCard::is_msix_enabled() const {
  const auto* function = pci_.find(config_.bdf);
  return function && (function->get(msix_ + pci::kMsixControl, 2) & pci::kMsixControlEnable);
}

}  // namespace npu::test
