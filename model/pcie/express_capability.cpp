// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/express_capability.hpp"

#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

void device_registers(ConfigSpace& space, std::uint32_t at, const BridgeIdentity& identity) {
  const bool endpoint = identity.type == PortType::kEndpoint;
  const unsigned payload = floor_log2(identity.link.max_payload / 128);
  // Extended tags (bit 5), role based error reporting (15).
  space.set(at + pci::kExpDeviceCap, 4,
            payload | 1U << 5 | 1U << 15 | (endpoint ? pci::kExpDeviceCapFlr : 0));
  // Relaxed ordering (bit 4) and no snoop (11) allowed, the configured read request size.
  const unsigned read_request = floor_log2(identity.link.max_read_request / 128);
  space.set(at + pci::kExpDeviceControl, 2, 0x0810 | read_request << 12);
  space.writable(at + pci::kExpDeviceControl, 2, 0x7FFF);
  space.write_one_to_clear(at + pci::kExpDeviceStatus, 2, 0x000F);
}

void link_registers(ConfigSpace& space, std::uint32_t at, const BridgeIdentity& identity) {
  const auto& link = identity.link;
  const bool reports_active =
      identity.type == PortType::kRootPort || identity.type == PortType::kDownstream;
  const std::uint32_t can = link.generation | link.lanes << 4;
  const std::uint32_t is = identity.occupied ? can : 1U;  // nothing trained: width 0
  space.set(at + pci::kExpLinkCap, 4,
            can | 1U << 22 | (reports_active ? 1U << 20 : 0) | std::uint32_t{identity.port} << 24);
  space.writable(at + 0x10, 2, identity.type == PortType::kEndpoint ? 0x00C8 : 0x00C0);
  space.set(at + pci::kExpLinkStatus, 2,
            is | 1U << 12 | (reports_active && identity.occupied ? 1U << 13 : 0));
}

void slot_and_root_registers(ConfigSpace& space, std::uint32_t at, const BridgeIdentity& identity) {
  if (identity.slot != 0) {
    space.set(at + 0x14, 4, std::uint32_t{identity.slot} << 19);
    space.writable(at + 0x18, 2, 0x1000);  // link state change enable
    space.set(at + 0x1A, 2, identity.occupied ? 1U << 6 : 0);
    space.write_one_to_clear(at + 0x1A, 2, 0x0108);
  }
  if (identity.type == PortType::kRootPort) space.writable(at + 0x1C, 2, 0x000F);
}

// The second set of registers of capability version 2.
void version2_registers(ConfigSpace& space, std::uint32_t at, const BridgeIdentity& identity) {
  const bool forwards_ari =
      identity.type == PortType::kRootPort || identity.type == PortType::kDownstream;
  // Completion timeout disable (bit 4), ARI forwarding (5), LTR (11).
  space.set(at + 0x24, 4, 1U << 4 | 1U << 11 | (forwards_ari ? 1U << 5 : 0));
  space.writable(at + 0x28, 2, 0x0410 | (forwards_ari ? 0x0020 : 0));
  space.set(at + 0x2C, 4, ((1U << identity.link.generation) - 1) << 1);
  space.set(at + 0x30, 2, identity.link.generation);
  space.writable(at + 0x30, 2, 0x000F);
  // Equalisation and its three phases are done.
  if (identity.occupied && identity.link.generation >= 3) space.set(at + 0x32, 2, 0x001E);
}

}  // namespace

std::uint32_t add_express(ConfigSpace& space, const BridgeIdentity& identity) {
  const auto at = space.add_capability(pci::kCapPciExpress, 60);
  const std::uint32_t slot = identity.slot != 0 ? 1U << 8 : 0;
  space.set(at + pci::kExpFlags, 2, 2U | static_cast<std::uint32_t>(identity.type) << 4 | slot);
  device_registers(space, at, identity);
  link_registers(space, at, identity);
  slot_and_root_registers(space, at, identity);
  version2_registers(space, at, identity);
  return at;
}

std::uint32_t add_virtual_express(ConfigSpace& space, const BridgeIdentity& identity) {
  const auto at = add_express(space, identity);
  // Device, link, device 2 and link 2 control and the two link status registers.
  for (const std::uint32_t offset : {0x08U, 0x10U, 0x12U, 0x28U, 0x30U, 0x32U}) {
    space.set(at + offset, 2, 0);
    space.writable(at + offset, 2, 0);
  }
  return at;
}

std::uint32_t add_error_reporting(ConfigSpace& space, bool is_root) {
  constexpr std::uint32_t kUncorrectable = 0x007FF030;  // bits 4, 5, 12 to 22
  constexpr std::uint32_t kCorrectable = 0x0000F1C1;
  const auto at = space.add_extended(pci::kExtAer, 2, 0x48);
  space.write_one_to_clear(at + 0x04, 4, kUncorrectable);
  space.set(at + 0x08, 4, 0x00400000);  // internal errors masked
  space.writable(at + 0x08, 4, kUncorrectable);
  space.set(at + 0x0C, 4, 0x00462030);
  space.writable(at + 0x0C, 4, kUncorrectable);
  space.write_one_to_clear(at + 0x10, 4, kCorrectable);
  space.set(at + 0x14, 4, 0x0000E000);  // advisory, internal and log overflow masked
  space.writable(at + 0x14, 4, kCorrectable);
  space.set(at + 0x18, 4, 0x000000A0);  // can generate and check ECRC
  space.writable(at + 0x18, 4, 0x00000140);
  if (is_root) {
    space.writable(at + 0x2C, 4, 0x7);
    space.write_one_to_clear(at + 0x30, 4, 0x7F);
  }
  return at;
}

// Data Link Feature and Physical Layer 16.0 GT/s are left out: they add nothing that is modelled,
// and pciutils 3.9 prints them as not decoded.
void add_link_capabilities(ConfigSpace& space, const LinkConfig& link) {
  if (link.generation < 3) return;
  const auto at = space.add_extended(pci::kExtSecondaryPcie, 1, 12 + 2 * link.lanes);
  space.write_one_to_clear(at + 8, 4, (1U << link.lanes) - 1);
  for (unsigned lane = 0; lane < link.lanes; ++lane) {
    space.set(at + 12 + 2 * lane, 2, 0x7F7F);  // presets left to the partner
  }
}

}  // namespace npu::model
