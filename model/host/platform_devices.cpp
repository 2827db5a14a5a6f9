// SPDX-License-Identifier: Apache-2.0
// HostPlatform: BAR mappings, DMA memory and interrupt vectors.
#include <fmt/format.h>

#include <cassert>

#include "model/core/bus_page.hpp"
#include "model/host/platform.hpp"
#include "model/host/process_addresses.hpp"
#include "model/host/vector_wait.hpp"
#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

class BarMapping : public platform::MmioRegion {
 public:
  BarMapping(HostPlatform& host, unsigned bar, std::uint64_t address, Bytes size,
             platform::Caching caching)
      : host_(host), bar_(bar), address_(address), size_(size), caching_(caching) {}
  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(host_.load(at(offset, 4), 4, bar_));
  }
  std::uint64_t read64(Bytes offset) override { return host_.load(at(offset, 8), 8, bar_); }
  void write32(Bytes offset, std::uint32_t value) override { write(offset, value, 4); }
  void write64(Bytes offset, std::uint64_t value) override { write(offset, value, 8); }

 private:
  std::uint64_t at(Bytes offset, unsigned width) const {
    assert(is_aligned(offset, width) && range_fits(offset, width, size_) && "MMIO offset");
    static_cast<void>(width);
    return address_ + offset;
  }
  void write(Bytes offset, std::uint64_t value, unsigned width) {
    if (caching_ == platform::Caching::kWriteCombining) {
      host_.store_combining(at(offset, width), value, width, bar_);
    } else {
      host_.store(at(offset, width), value, width, bar_);
    }
  }

  HostPlatform& host_;
  unsigned bar_;
  std::uint64_t address_;
  Bytes size_;
  platform::Caching caching_;
};

class MappedDmaMemory : public platform::DmaMemory {
 public:
  MappedDmaMemory(HostPlatform& host, const Iommu::Mapping& mapping, Bytes size)
      : DmaMemory({mapping.memory.data, size}, platform::BusAddress{mapping.bus}),
        host_(host),
        mapping_(mapping) {}
  ~MappedDmaMemory() override { host_.free_dma(mapping_, others_); }
  const Iommu::Mapping& mapping() const { return mapping_; }
  std::vector<std::uint16_t>& others() { return others_; }

 private:
  HostPlatform& host_;
  const Iommu::Mapping mapping_;
  std::vector<std::uint16_t> others_;  // functions that share it
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
  return std::make_unique<BarMapping>(*this, bar, resource.address + offset, size, caching);
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
  if (!present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const int node = work_.node();
  const auto mapping = memory_.map(bdf.packed(), size, alignment, direction, node);
  if (!mapping.memory.data) {
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("{} bytes of host memory requested, {} used on node {}", size,
                            memory_.memory().used(node), node));
  }
  work_.provide(mapping);
  return std::make_unique<MappedDmaMemory>(*this, mapping, size);
}

// At the same address, which no other mapping has.
Result<platform::BusAddress> HostPlatform::share_dma(platform::DmaMemory& memory,
                                                     platform::Bdf bdf) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (!present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
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
  if (!present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const BarResource resource = bar < 6 ? resources_(owner, bar) : BarResource{};
  if (offset >= resource.size) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has nothing at {:#x} of BAR{}", to_string(owner), offset, bar));
  }
  return platform::BusAddress{resource.address + offset};
}

Status HostPlatform::bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (pasid == 0 || pasid >= 1U << 20) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} is no PASID", pasid));
  }
  const auto requester = static_cast<MappedDmaMemory&>(memory).mapping().requester;
  if (auto enabled = enable_pasids(platform::Bdf::unpack(requester)); !enabled) return enabled;
  memory_.iommu().bind(requester, memory.bus().value, pasid);
  return {};
}

// PASIDs, translations and, behind these, page requests, all that the function can have open.
Result<std::unique_ptr<platform::ProcessAddresses>> HostPlatform::open_process_addresses(
    platform::Bdf bdf) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (!present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const auto pri = find_extended_capability(bdf, pci::kExtPri);
  const auto ats = find_extended_capability(bdf, pci::kExtAts);
  if (pri == 0 || ats == 0) {
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " makes no page requests");
  }
  auto vector = memory_.page_requests().open(bdf.packed());
  if (!vector) {
    return fail(ErrorCode::kAlreadyExists, "page requests of " + to_string(bdf) + " are served");
  }
  auto opened =
      std::make_unique<SharedProcesses>(*this, cpus_, memory_, work_, bdf, std::move(vector));
  if (auto enabled = enable_pasids(bdf); !enabled) return forward_error(enabled);
  write16(bdf, ats + pci::kAtsControl, pci::kAtsControlEnable);
  write16(bdf, pri + pci::kPriControl, pci::kPriControlReset);
  write32(bdf, pri + pci::kPriAllocation, read32(bdf, pri + pci::kPriCapacity));
  write16(bdf, pri + pci::kPriControl, pci::kPriControlEnable);
  return opened;
}

void HostPlatform::stop_page_requests(platform::Bdf bdf) {
  const auto pri = find_extended_capability(bdf, pci::kExtPri);
  if (pri != 0) write16(bdf, pri + pci::kPriControl, 0);
}

void HostPlatform::unmap_process(std::uint16_t requester, std::uint32_t pasid,
                                 std::uint64_t address, Bytes size) {
  if (in_task()) {
    cpus_.synchronise();
    memory_.retire_process(requester, pasid, address, size);
    invalidate(requester, address, size);
  }
  memory_.unmap_process(requester, pasid, address, size);
}

Status HostPlatform::enable_pasids(platform::Bdf bdf) {
  if (!present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  if (const auto physical = physical_of(bdf)) bdf = *physical;
  const auto capability = find_extended_capability(bdf, pci::kExtPasid);
  if (capability == 0) return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no PASIDs");
  const std::uint32_t control = capability + pci::kPasidControl;
  if ((read16(bdf, control) & pci::kPasidControlEnable) == 0) {
    write16(bdf, control, pci::kPasidControlEnable);
  }
  return {};
}

Result<std::unique_ptr<platform::InterruptVector>> HostPlatform::open_vector(platform::Bdf bdf,
                                                                             unsigned vector) {
  if (!present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const auto msix = find_capability(bdf, pci::kCapMsix);
  if (msix == 0) return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no MSI-X capability");
  const auto control = read16(bdf, msix + pci::kMsixControl);
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
  const auto location = read32(bdf, msix + pci::kMsixTable);
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
    write16(bdf, msix + pci::kMsixControl,
            static_cast<std::uint16_t>(control | pci::kMsixControlEnable));
  }
  return handle;
}

}  // namespace npu::model
