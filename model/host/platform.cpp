// SPDX-License-Identifier: Apache-2.0
#include "model/host/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "model/core/bus_page.hpp"
#include "model/host/vector_wait.hpp"
#include "npu/abi/layout.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

class BarMapping : public platform::MmioRegion {
 public:
  BarMapping(HostBus& bus, const MappedBar& bar, std::uint64_t address, Bytes size,
             platform::Caching caching)
      : bus_(bus),
        bar_(bar),
        address_(address),
        size_(size),
        combines_(caching == platform::Caching::kWriteCombining) {}
  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(bus_.load(at(offset, 4), 4, bar_, combines_));
  }
  std::uint64_t read64(Bytes offset) override {
    return bus_.load(at(offset, 8), 8, bar_, combines_);
  }
  void write32(Bytes offset, std::uint32_t value) override { write(offset, value, 4); }
  void write64(Bytes offset, std::uint64_t value) override { write(offset, value, 8); }

 private:
  std::uint64_t at(Bytes offset, unsigned width) const {
    assert(is_aligned(offset, width) && range_fits(offset, width, size_) && "MMIO offset");
    static_cast<void>(width);
    return address_ + offset;
  }
  void write(Bytes offset, std::uint64_t value, unsigned width) {
    if (combines_) {
      bus_.store_combining(at(offset, width), value, width, bar_);
    } else {
      bus_.store(at(offset, width), value, width, bar_);
    }
  }

  HostBus& bus_;
  MappedBar bar_;
  std::uint64_t address_;
  Bytes size_;
  bool combines_;
};

class MappedDmaMemory : public platform::DmaMemory {
 public:
  MappedDmaMemory(HostPlatform& host, const Iommu::Mapping& mapping, Bytes size)
      : DmaMemory({mapping.memory.data, size}, platform::BusAddress{mapping.bus}),
        host_(host),
        mapping_(mapping) {}
  ~MappedDmaMemory() override { host_.free_dma(mapping_, others_); }
  const Iommu::Mapping& mapping() const { return mapping_; }
  std::vector<std::uint32_t>& others() { return others_; }

 private:
  HostPlatform& host_;
  const Iommu::Mapping mapping_;
  std::vector<std::uint32_t> others_;  // functions that share it
};

class MsixVector : public VectorWait {
 public:
  MsixVector(HostCpus& cpus, Interrupts& interrupts, std::shared_ptr<VectorState> state,
             platform::Bdf bdf, unsigned vector)
      : VectorWait(cpus, std::move(state),
                   fmt::format("interrupt vector {} of {}", vector, to_string(bdf))),
        interrupts_(interrupts),
        bdf_(bdf),
        vector_(vector) {}
  ~MsixVector() override { interrupts_.close(bdf_.packed(), vector_); }

 private:
  Interrupts& interrupts_;
  platform::Bdf bdf_;
  unsigned vector_;
};

}  // namespace

HostPlatform::HostPlatform(const sc_core::sc_module_name& name, Simulation& simulation,
                           HostCpus& cpus, HostMemory& memory, Interrupts& interrupts,
                           std::vector<platform::HostBridge> bridges, ResourceLookup resources,
                           AtsLookup has_ats)
    : sc_module(name),
      cpu_socket("cpu_socket"),
      simulation_(simulation),
      cpus_(cpus),
      memory_(memory),
      interrupts_(interrupts),
      work_(simulation, cpus, memory, memory.config()),
      resources_(std::move(resources)),
      has_ats_(std::move(has_ats)),
      bus_(cpu_socket, simulation, cpus, statistics_),
      pci_(bus_, std::move(bridges)),
      clock_(simulation, cpus, memory, bus_, statistics_),
      tasks_(cpus, simulation.agenda),
      sriov_(pci_, clock_, resources_),
      sharing_(*this, cpus, memory, work_, sriov_) {
  cpus_.on_handover([this] { bus_.drain(); });
  memory_.order(bus_.weak());
}

// --- devices ---------------------------------------------------------------------------------

Result<std::unique_ptr<platform::MmioRegion>> HostPlatform::map_bar(platform::Bdf bdf, unsigned bar,
                                                                    Bytes offset, Bytes size,
                                                                    platform::Caching caching) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  const BarResource resource = bar < 6 ? resources_(bdf, bar) : BarResource{};
  if (resource.size == 0) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no BAR{}", to_string(bdf), bar));
  }
  if (size == 0 || !is_aligned(offset | size, kBusPage)) {
    return fail(ErrorCode::kMisaligned,
                fmt::format("BAR{} of {}: offset {:#x} and size {:#x} must be multiples of 4 KiB",
                            bar, to_string(bdf), offset, size));
  }
  if (!range_fits(offset, size, resource.size)) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("BAR{} of {}: {:#x} bytes at {:#x} do not fit its {:#x} bytes", bar,
                            to_string(bdf), size, offset, resource.size));
  }
  const MappedBar mapped{bar, bdf, resource.address};
  return std::make_unique<BarMapping>(bus_, mapped, resource.address + offset, size, caching);
}

Result<std::unique_ptr<platform::DmaMemory>> HostPlatform::allocate_dma(
    platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "DMA memory of 0 bytes");
  if (!is_power_of_two(alignment) || alignment < kBusPage) {
    return fail(ErrorCode::kMisaligned,
                fmt::format("alignment {:#x} is no power of two of at least 4 KiB", alignment));
  }
  if (!pci_.present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const int node = work_.node();
  const auto mapping = memory_.map(bdf.packed(), size, alignment, direction, node);
  if (!mapping.memory.data) {
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("{} bytes of host memory requested, {} used on node {}", size,
                            memory_.memory().used(node), node));
  }
  work_.provide(mapping);
  if (bus_.weak() != nullptr) bus_.weak()->memory().add(mapping.memory, mapping.bus);
  return std::make_unique<MappedDmaMemory>(*this, mapping, size);
}

Result<std::unique_ptr<platform::DmaMemory>> HostPlatform::import_dma(
    platform::Bdf bdf, ByteSpan memory, platform::DmaDirection direction,
    platform::HostPages pages) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (memory.size == 0) return fail(ErrorCode::kInvalidArgument, "DMA memory of 0 bytes");
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(memory.data) | memory.size, kBusPage)) {
    return fail(
        ErrorCode::kMisaligned,
        fmt::format("{:#x} bytes of host memory are not whole pages of 4 KiB", memory.size));
  }
  if (!pci_.present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const int node = work_.node();
  const bool fresh = pages == platform::HostPages::kFresh;
  const auto mapping = memory_.import(bdf.packed(), memory, direction, node, fresh);
  if (!mapping.memory.data) {
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("{} bytes of host memory cannot be pinned, {} used on node {}",
                            memory.size, memory_.memory().used(node), node));
  }
  if (fresh) {
    work_.provide(mapping);
  } else {
    work_.pin(mapping);
  }
  return std::make_unique<MappedDmaMemory>(*this, mapping, memory.size);
}

// At the same address, which no other mapping has.
Result<platform::BusAddress> HostPlatform::share_dma(platform::DmaMemory& memory,
                                                     platform::Bdf bdf) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (!pci_.present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  auto& shared = static_cast<MappedDmaMemory&>(memory);
  const auto& first = shared.mapping();
  const auto requester = bdf.packed();
  auto& others = shared.others();
  const bool known = requester == first.requester ||
                     std::find(others.begin(), others.end(), requester) != others.end();
  if (known) return memory.bus();
  if (!memory_.map_at(requester, first.bus, first.memory, first.direction)) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("{} has something else at {:#x}", to_string(bdf), first.bus));
  }
  others.push_back(requester);
  work_.map(first);
  return memory.bus();
}

// The root complex and switches route by address: to each other the functions' BARs are where the
// host sees them.
Result<platform::BusAddress> HostPlatform::peer_address(platform::Bdf bdf, platform::Bdf owner,
                                                        unsigned bar, Bytes offset) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (!pci_.present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const BarResource resource = bar < 6 ? resources_(owner, bar) : BarResource{};
  if (offset >= resource.size) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has nothing at {:#x} of BAR{}", to_string(owner), offset, bar));
  }
  return platform::BusAddress{resource.address + offset};
}

Result<std::unique_ptr<platform::InterruptVector>> HostPlatform::open_vector(platform::Bdf bdf,
                                                                             unsigned vector) {
  if (!pci_.present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const auto msix = pci_.find_capability(bdf, pci::kCapMsix);
  if (msix == 0) return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no MSI-X capability");
  const auto control = pci_.read16(bdf, msix + pci::kMsixControl);
  const unsigned vectors = (control & pci::kMsixControlSizeMask) + 1U;
  if (vector >= vectors) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("vector {} of {}: it has {}", vector, to_string(bdf), vectors));
  }
  auto state = interrupts_.open(bdf.packed(), vector);
  if (!state) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("vector {} of {} is open", vector, to_string(bdf)));
  }
  auto handle = std::make_unique<MsixVector>(cpus_, interrupts_, state, bdf, vector);
  const auto location = pci_.read32(bdf, msix + pci::kMsixTable);
  const Bytes entry = (location & ~pci::kMsixBirMask) + Bytes{vector} * pci::kMsixEntrySize;
  auto table = map_bar(bdf, location & pci::kMsixBirMask, align_down(entry, kBusPage), kBusPage,
                       platform::Caching::kUncached);
  if (!table) return forward_error(table);
  const Bytes offset = entry % kBusPage;
  (*table)->write32(offset + pci::kMsixEntryAddressLow,
                    static_cast<std::uint32_t>(Interrupts::kMessageAddress));
  (*table)->write32(offset + pci::kMsixEntryAddressHigh, 0);
  (*table)->write32(offset + pci::kMsixEntryData, state->data);
  (*table)->write32(offset + pci::kMsixEntryControl, 0);
  if (!(control & pci::kMsixControlEnable)) {
    pci_.write16(bdf, msix + pci::kMsixControl,
                 static_cast<std::uint16_t>(control | pci::kMsixControlEnable));
  }
  return handle;
}

Status HostPlatform::bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) {
  const auto requester = static_cast<MappedDmaMemory&>(memory).mapping().requester;
  return sharing_.bind(requester, memory.bus().value, pasid);
}

// --- memory is taken back --------------------------------------------------------------------

bool HostPlatform::in_task() const {
  const auto process = sc_core::sc_get_current_process_handle();
  return process.valid() && process.proc_kind() == sc_core::SC_THREAD_PROC_;
}

void HostPlatform::free_dma(const Iommu::Mapping& mapping,
                            const std::vector<std::uint32_t>& others) {
  const bool waits = in_task();
  if (waits) cpus_.charge(cpus_.config().call);
  for (const auto requester : others) {
    unmap(requester, mapping.bus, mapping.memory.size);
    if (waits) work_.unmap(mapping);
  }
  unmap(mapping.requester, mapping.bus, mapping.memory.size);
  if (waits) work_.take_back(mapping);
  if (bus_.weak() != nullptr) bus_.weak()->memory().remove(mapping.memory.data);
  memory_.free(mapping.memory);
}

void HostPlatform::unmap(std::uint32_t requester, std::uint64_t bus, Bytes size) {
  const bool waits = in_task();
  if (waits) cpus_.synchronise();
  if (waits && has_ats_(platform::Bdf::unpack(requester))) {
    memory_.retire(requester, bus, size);
    invalidate(requester, bus, size);
  }
  memory_.unmap(requester, bus, size);
}

void HostPlatform::unmap_process(std::uint32_t requester, std::uint32_t pasid,
                                 std::uint64_t address, Bytes size) {
  if (in_task()) {
    cpus_.synchronise();
    memory_.retire_process(requester, pasid, address, size);
    invalidate(requester, address, size);
  }
  memory_.unmap_process(requester, pasid, address, size);
}

void HostPlatform::invalidate(std::uint32_t requester, std::uint64_t bus, Bytes size) {
  const SimTime begin = sim_now();
  const auto completion = bus_.invalidate(requester, bus);
  const std::uint64_t cause = cpus_.current().cause;
  if (completion == Completion::kTimeout) memory_.not_invalidated(requester, bus, cause);
  simulation_.emit(bus_.track(), platform::Activity::kAtsInvalidation, begin, sim_now(), cause,
                   size, std::uint64_t{requester} << 48 | (bus & 0xFFFF'FFFF'F000));
}

// A reset that somebody else has begun ends within 100 ms (PCIe 6.6.2).
Status HostPlatform::await_function(platform::Bdf bdf, Instant limit) {
  if (pci_.present(bdf)) return {};
  const bool known = resources_(bdf, abi::kRegisterBar).size != 0;
  while (known && clock_.now() < limit) {
    clock_.sleep_until(std::min(limit, clock_.now() + 1_ms));
    if (pci_.present(bdf)) return {};
  }
  return fail(ErrorCode::kNotFound,
              known ? to_string(bdf) + " does not answer, and has not for 100 ms"
                    : "no function at " + to_string(bdf));
}

Status HostPlatform::reset_function(platform::Bdf bdf) {
  std::uint32_t express = 0;
  std::uint16_t control = 0;
  const Instant limit = clock_.now() + 100_ms;
  // One that begins meanwhile hides the capability, or all of it reads as ones.
  for (bool there = false; !there;) {
    if (auto answers = await_function(bdf, limit); !answers) return answers;
    express = pci_.find_capability(bdf, pci::kCapPciExpress);
    bool able = false;
    if (express != 0) {
      able = (pci_.read32(bdf, express + pci::kExpDeviceCap) & pci::kExpDeviceCapFlr) != 0;
      control = pci_.read16(bdf, express + pci::kExpDeviceControl);
    }
    there = able && control != 0xFFFF;
    if (!able && pci_.present(bdf)) {
      return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no function level reset");
    }
  }
  pci_.write16(bdf, express + pci::kExpDeviceControl,
               static_cast<std::uint16_t>(control | pci::kExpDeviceControlFlr));
  const Instant deadline = clock_.now() + 100_ms;
  while (!pci_.present(bdf)) {
    if (clock_.now() >= deadline) {
      return fail(ErrorCode::kTimeout, to_string(bdf) + " does not answer 100 ms after FLR");
    }
    clock_.sleep_until(clock_.now() + 1_ms);
  }
  pci_.restore_bars(bdf, resources_);
  return {};
}

}  // namespace npu::model
