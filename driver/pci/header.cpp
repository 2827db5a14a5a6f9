// SPDX-License-Identifier: Apache-2.0
// Function headers and capability lists.
#include <fmt/format.h>

#include <bitset>

#include "driver/pci/config_space.hpp"
#include "npu/abi/pci.hpp"

namespace npu::driver {

namespace pci = abi::pci;
using platform::Bdf;

namespace {

tl::unexpected<Error> vanished(Bdf bdf) {
  return fail(ErrorCode::kDeviceLost, to_string(bdf) + " vanished while it was being read");
}

}  // namespace

Result<PciFunction> read_header(ConfigAccess& config, Bdf bdf, std::uint32_t dword0) {
  PciFunction function;
  function.bdf = bdf;
  function.vendor_id = static_cast<std::uint16_t>(dword0);
  function.device_id = static_cast<std::uint16_t>(dword0 >> 16);
  const auto class_and_revision = config.read32(bdf, pci::kRevision);
  function.revision = static_cast<std::uint8_t>(class_and_revision);
  function.class_code = class_and_revision >> 8;
  const auto type = config.read8(bdf, pci::kHeaderType);
  function.header_type = type & pci::kHeaderTypeMask;
  function.multi_function = (type & pci::kHeaderMultiFunction) != 0;
  if (type == 0xFF) return vanished(bdf);
  if (function.header_type == pci::kHeaderTypeEndpoint) {
    const auto subsystem = config.read32(bdf, pci::kSubsystemVendor);
    if (subsystem == pci::kAllOnes) return vanished(bdf);
    function.subsystem_vendor_id = static_cast<std::uint16_t>(subsystem);
    function.subsystem_id = static_cast<std::uint16_t>(subsystem >> 16);
  } else if (function.header_type == pci::kHeaderTypeBridge) {
    const auto buses = config.read32(bdf, pci::kPrimaryBus);
    if (buses == pci::kAllOnes) return vanished(bdf);
    function.secondary_bus = static_cast<std::uint8_t>(buses >> 8);
    function.subordinate_bus = static_cast<std::uint8_t>(buses >> 16);
  } else {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: unknown header type {:#04x}", to_string(bdf), type));
  }
  return function;
}

Result<std::uint32_t> find_capability(ConfigAccess& config, Bdf bdf, std::uint8_t id) {
  return find_capability(config, bdf, id, config.read16(bdf, pci::kStatus));
}

Result<std::uint32_t> find_capability(ConfigAccess& config, Bdf bdf, std::uint8_t id,
                                      std::uint16_t status) {
  if (!(status & pci::kStatusCapabilities)) return 0U;
  std::bitset<64> visited;  // one bit per dword of the first 256 bytes
  std::uint32_t offset = config.read8(bdf, pci::kCapabilityPointer) & 0xFCU;
  while (offset != 0) {
    if (offset < 0x40) {
      return fail(ErrorCode::kBadDevice, fmt::format("{}: a capability pointer leads to {:#04x}, "
                                                     "inside the header",
                                                     to_string(bdf), offset));
    }
    if (visited.test(offset / 4)) {
      return fail(ErrorCode::kBadDevice,
                  fmt::format("{}: the capability list loops at {:#04x}", to_string(bdf), offset));
    }
    visited.set(offset / 4);
    const auto entry = config.read16(bdf, offset);
    if (entry == 0xFFFF) {
      return fail(
          ErrorCode::kDeviceLost,
          fmt::format("{}: the capability at {:#04x} reads as all ones", to_string(bdf), offset));
    }
    if ((entry & 0xFF) == id) return offset;
    offset = (entry >> 8) & 0xFCU;
  }
  return 0U;
}

}  // namespace npu::driver
