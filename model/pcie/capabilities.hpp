// SPDX-License-Identifier: Apache-2.0
// Builders of configuration headers and capabilities, in the layout that pciutils and Linux take.
// Source: PCIe Base 4.0, chapter 7; PCI Local Bus 3.0, 6; SR-IOV 1.1, 3.3.
#pragma once

#include <cstdint>

#include "model/config/chip_config.hpp"
#include "model/pcie/config_space.hpp"
#include "model/pcie/link_state.hpp"

namespace npu::model {

// Where each capability starts; 0: absent.
struct CapabilityOffsets {
  std::uint32_t express = 0;
  std::uint32_t msix = 0;
  std::uint32_t power = 0;
  std::uint32_t aer = 0;
  std::uint32_t sriov = 0;
  std::uint32_t ats = 0;
  std::uint32_t pasid = 0;
  std::uint32_t pri = 0;
  bool is_root = false;  // a root port's
};

// Link status and errors, where the link's state is another than the one `shown`. An
// error of the link belongs to every function of a port (PCIe 6.2.4).
void show_link(ConfigSpace& space, const CapabilityOffsets& at, const LinkState& shown,
               const LinkState& link);

enum class PortType : std::uint8_t { kEndpoint = 0, kRootPort = 4, kUpstream = 5, kDownstream = 6 };

// Type 0 header and capabilities of function `number` of `count` of a card.
CapabilityOffsets build_endpoint(ConfigSpace& space, const ChipConfig& chip, unsigned number,
                                 unsigned count);

// MSI-X vectors of a virtual function: none if its BAR0 has no room for their table.
unsigned virtual_vectors(const PciFunctionConfig& config);
// A virtual function's, which has its addresses, identity and power state from the physical one.
CapabilityOffsets build_virtual(ConfigSpace& space, const ChipConfig& chip);

// Copies what a reset leaves alone: error logging, and what the link has agreed on (PCIe 7.4).
void keep_sticky(ConfigSpace& space, const ConfigSpace& before, const CapabilityOffsets& at);

struct BridgeIdentity {
  PortType type = PortType::kEndpoint;
  std::uint8_t port = 0;   // port number
  std::uint16_t slot = 0;  // physical slot number; 0: no slot
  bool occupied = false;   // something is plugged in
  LinkConfig link{};       // what the port can do
  bool more_functions = false;
};
// Type 1 header and capabilities of a port.
CapabilityOffsets build_bridge(ConfigSpace& space, const BridgeIdentity& identity);

}  // namespace npu::model
