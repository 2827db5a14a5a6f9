// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/firmware.hpp"

#include <algorithm>
#include <cassert>

#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {
constexpr std::uint64_t kBridgeGrain = 1 << 20;  // bridge windows are multiples of 1 MiB
std::uint64_t up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
// As bridges have it.
unsigned in_segment(unsigned bus) {
  return bus % platform::kBusesPerSegment;
}
}  // namespace

std::uint32_t PlatformFirmware::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  ConfigRequest request;
  request.bdf = bdf.packed();
  request.offset = offset;
  request.width = width;
  return access_(request) ? request.value : pci::kAllOnes >> (32 - 8 * width);
}

void PlatformFirmware::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                             std::uint32_t value) {
  ConfigRequest request;
  request.bdf = bdf.packed();
  request.offset = offset;
  request.width = width;
  request.is_write = true;
  request.value = value;
  access_(request);
  note({bdf, offset, width, value});
}

// The last value written to a place counts.
void PlatformFirmware::note(const Setting& setting) {
  auto& settings = settings_[setting.bdf.bus];
  const auto same = std::find_if(settings.rbegin(), settings.rend(), [&](const Setting& old) {
    return old.bdf == setting.bdf && old.offset == setting.offset;
  });
  if (same == settings.rend()) {
    settings.push_back(setting);
  } else {
    *same = setting;
  }
}

void PlatformFirmware::restore(const Access& access, std::uint16_t bus) {
  for (const auto& setting : settings_[bus]) {
    ConfigRequest request;
    request.bdf = setting.bdf.packed();
    request.offset = setting.offset;
    request.width = setting.width;
    request.is_write = true;
    request.value = setting.value;
    access(request);
  }
}

void PlatformFirmware::run(const Access& access, const std::vector<platform::HostBridge>& bridges) {
  access_ = access;
  for (const auto& bridge : bridges) {
    next_bus_ = bridge.first_bus + 1U;
    last_bus_ = bridge.last_bus;
    numa_node_ = bridge.numa_node;
    scan_bus(bridge.first_bus);
  }
  access_ = nullptr;
}

// Functions 1 to 7 exist only behind a function 0 that says so (PCI 3.0, 3.2.2.3.4).
void PlatformFirmware::scan_bus(std::uint16_t bus) {
  for (unsigned device = 0; device < pci::kDevicesPerBus; ++device) {
    for (unsigned function = 0; function < pci::kFunctionsPerDevice; ++function) {
      const platform::Bdf bdf{bus, static_cast<std::uint8_t>(device),
                              static_cast<std::uint8_t>(function)};
      if (read(bdf, pci::kVendorId, 2) == 0xFFFF) {
        if (function == 0) break;
        continue;
      }
      const std::uint32_t type = read(bdf, pci::kHeaderType, 1);
      if ((type & pci::kHeaderTypeMask) == pci::kHeaderTypeBridge) {
        set_up_bridge(bdf);
      } else {
        set_up_function(bdf);
      }
      if (function == 0 && !(type & pci::kHeaderMultiFunction)) break;
    }
  }
}

void PlatformFirmware::set_up_bridge(platform::Bdf bdf) {
  FoundFunction bridge;
  bridge.bdf = bdf;
  bridge.is_bridge = true;
  bridge.numa_node = numa_node_;
  functions_.push_back(bridge);
  assert(next_bus_ <= last_bus_ && "a host bridge has run out of bus numbers");
  const auto secondary = static_cast<std::uint16_t>(next_bus_++);
  write(bdf, pci::kPrimaryBus, 1, in_segment(bdf.bus));
  write(bdf, pci::kSecondaryBus, 1, in_segment(secondary));
  write(bdf, pci::kSubordinateBus, 1,
        in_segment(last_bus_));  // while what is behind is being numbered
  low_ = up(low_, kBridgeGrain);
  high_ = up(high_, kBridgeGrain);
  const std::uint64_t low_start = low_;
  const std::uint64_t high_start = high_;
  scan_bus(secondary);
  low_ = up(low_, kBridgeGrain);
  high_ = up(high_, kBridgeGrain);
  write(bdf, pci::kSubordinateBus, 1, in_segment(next_bus_ - 1U));
  write(bdf, pci::kIoBase, 2, 0x00F0);  // base above limit: closed
  const bool low_closed = low_ == low_start;
  write(bdf, pci::kMemoryBase, 2, low_closed ? 0xFFF0 : static_cast<unsigned>(low_start >> 16));
  write(bdf, pci::kMemoryLimit, 2, low_closed ? 0 : static_cast<unsigned>((low_ - 1) >> 16));
  const bool closed = high_ == high_start;
  const std::uint64_t base = closed ? 0xFFF0'0000 : high_start;
  const std::uint64_t limit = closed ? 0 : high_ - 1;
  write(bdf, pci::kPrefetchBase, 2, static_cast<std::uint32_t>(base >> 16) & 0xFFFF);
  write(bdf, pci::kPrefetchLimit, 2, static_cast<std::uint32_t>(limit >> 16) & 0xFFFF);
  write(bdf, pci::kPrefetchBaseUpper, 4, static_cast<std::uint32_t>(base >> 32));
  write(bdf, pci::kPrefetchLimitUpper, 4, static_cast<std::uint32_t>(limit >> 32));
  set_payload_sizes(bdf);
  forward_ari(bdf, secondary);
  write(bdf, pci::kCommand, 2, pci::kCommandMemory | pci::kCommandBusMaster);
}

// Virtual functions are reached through function numbers above 7 (PCIe 6.13).
void PlatformFirmware::forward_ari(platform::Bdf bridge, std::uint16_t secondary) {
  const std::uint32_t express = find_capability(bridge, pci::kCapPciExpress);
  if (express == 0 || find_extended({secondary, 0, 0}, pci::kExtAri) == 0) return;
  const std::uint32_t can = read(bridge, express + pci::kExpDeviceCap2, 4);
  if (!(can & pci::kExpDevice2AriForwarding)) return;
  const std::uint32_t control = read(bridge, express + pci::kExpDeviceControl2, 2);
  write(bridge, express + pci::kExpDeviceControl2, 2, control | pci::kExpDevice2AriForwarding);
}

void PlatformFirmware::set_up_function(platform::Bdf bdf) {
  FoundFunction function;
  function.bdf = bdf;
  function.numa_node = numa_node_;
  for (std::uint32_t bar = 0; bar < function.bars.size(); ++bar) {
    function.bars[bar] = place(bdf, pci::kBar0 + 4 * bar, 1);
    if (function.bars[bar].flags & pci::kBarType64) ++bar;
  }
  place_virtual_bars(function);
  set_payload_sizes(bdf);
  const bool has_memory = function.bars[0].size != 0 || function.bars[2].size != 0;
  if (has_memory) write(bdf, pci::kCommand, 2, pci::kCommandMemory);
  functions_.push_back(function);
}

// Sizes the BAR at `offset` by writing all ones and gives it room for `copies` of itself.
PciResource PlatformFirmware::place(platform::Bdf bdf, std::uint32_t offset, unsigned copies) {
  write(bdf, offset, 4, pci::kAllOnes);
  const std::uint32_t low = read(bdf, offset, 4);
  if (low == 0) return {};
  assert((low & pci::kBarTypeMask) == pci::kBarType64 && "BARs of the models are 64-bit");
  write(bdf, offset + 4, 4, pci::kAllOnes);
  const std::uint64_t mask =
      std::uint64_t{read(bdf, offset + 4, 4)} << 32 | (low & ~pci::kBarFlagsMask);
  PciResource resource{0, ~mask + 1, low & pci::kBarFlagsMask};
  auto& cursor = resource.flags & pci::kBarPrefetchable ? high_ : low_;
  resource.address = up(cursor, resource.size);
  cursor = resource.address + resource.size * copies;
  assert(low_ <= kLowEnd && "no room left below 4 GiB for non-prefetchable BARs");
  write(bdf, offset, 4, static_cast<std::uint32_t>(resource.address));
  write(bdf, offset + 4, 4, static_cast<std::uint32_t>(resource.address >> 32));
  return resource;
}

// Virtual functions lie side by side behind their BAR registers (SR-IOV 1.1, 2.1.1.1).
void PlatformFirmware::place_virtual_bars(FoundFunction& function) {
  const platform::Bdf bdf = function.bdf;
  const std::uint32_t sriov = find_extended(bdf, pci::kExtSriov);
  if (sriov == 0) return;
  const unsigned total = read(bdf, sriov + pci::kSriovTotalVfs, 2);
  function.most_virtual = total;
  for (std::uint32_t bar = 0; bar < 6; ++bar) {
    function.virtual_bars[bar] = place(bdf, sriov + pci::kSriovBar0 + 4 * bar, total);
    if (function.virtual_bars[bar].flags & pci::kBarType64) ++bar;
  }
}

std::vector<FoundFunction> PlatformFirmware::virtual_functions(const Access& access,
                                                               const FoundFunction& physical) {
  access_ = access;
  std::vector<FoundFunction> found;
  const platform::Bdf bdf = physical.bdf;
  const std::uint32_t sriov = find_extended(bdf, pci::kExtSriov);
  const bool enabled =
      sriov != 0 && (read(bdf, sriov + pci::kSriovControl, 2) & pci::kSriovControlEnable);
  const std::uint32_t count = enabled ? read(bdf, sriov + pci::kSriovNumVfs, 2) : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    FoundFunction function;
    const std::uint32_t routing_id = bdf.packed() + read(bdf, sriov + pci::kSriovVfOffset, 2) +
                                     i * read(bdf, sriov + pci::kSriovVfStride, 2);
    function.bdf = platform::Bdf::unpack(routing_id);
    function.id = read(bdf, sriov + pci::kSriovVfDeviceId, 2) << 16 | read(bdf, pci::kVendorId, 2);
    function.numa_node = physical.numa_node;
    function.bars = physical.virtual_bars;
    for (auto& bar : function.bars) bar.address += i * bar.size;
    found.push_back(function);
  }
  access_ = nullptr;
  return found;
}

// Payload and read request sizes: the largest payload the port can do, which all ports of the
// model's hierarchies share by configuration.
void PlatformFirmware::set_payload_sizes(platform::Bdf bdf) {
  const std::uint32_t express = find_capability(bdf, pci::kCapPciExpress);
  if (express == 0) return;
  const std::uint32_t payload = read(bdf, express + pci::kExpDeviceCap, 4) & 7;
  const std::uint32_t control = read(bdf, express + pci::kExpDeviceControl, 2);
  write(bdf, express + pci::kExpDeviceControl, 2, (control & ~0xE0U) | payload << 5);
}

std::uint32_t PlatformFirmware::find_capability(platform::Bdf bdf, std::uint8_t id) {
  std::uint32_t offset = read(bdf, pci::kCapabilityPointer, 1);
  for (int steps = 0; offset >= 0x40 && steps < 48; ++steps) {
    if (read(bdf, offset, 1) == id) return offset;
    offset = read(bdf, offset + 1, 1);
  }
  return 0;
}

std::uint32_t PlatformFirmware::find_extended(platform::Bdf bdf, std::uint16_t id) {
  std::uint32_t offset = pci::kExtendedStart;
  for (int steps = 0; offset != 0 && steps < 960; ++steps) {
    const std::uint32_t header = read(bdf, offset, 4);
    if (header == pci::kAllOnes) return 0;
    if ((header & 0xFFFF) == id) return offset;
    offset = header >> 20;
  }
  return 0;
}

PciResource PlatformFirmware::virtual_resource(platform::Bdf bdf, unsigned bar) const {
  for (const auto& function : functions_) {
    if (function.bdf == bdf) return function.virtual_bars[bar];
  }
  return {};
}

PciResource PlatformFirmware::resource(platform::Bdf bdf, unsigned bar) const {
  for (const auto& function : functions_) {
    if (function.bdf == bdf && bar < function.bars.size()) return function.bars[bar];
  }
  return {};
}

}  // namespace npu::model
