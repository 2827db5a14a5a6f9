// SPDX-License-Identifier: Apache-2.0
// The PCI Express capability of a card as its configuration space shows it.
#pragma once

#include <optional>

#include "npu/abi/pci.hpp"
#include "npu/driver/management.hpp"

namespace npu::dsmi {

struct LinkStatus {
  unsigned generation = 0, lanes = 0;
};

// Nothing: no such capability, or nobody answers.
inline std::optional<LinkStatus> link_status(driver::ManagementAccess& card) {
  namespace pci = abi::pci;
  constexpr unsigned kMostCapabilities = 48;  // that fit into configuration space
  std::uint32_t at = card.read_config(pci::kCapabilityPointer) & 0xFC;
  for (unsigned i = 0; i < kMostCapabilities && at >= 0x40; ++i) {
    const std::uint32_t header = card.read_config(at);
    if (header == pci::kAllOnes) return std::nullopt;
    if ((header & 0xFF) == pci::kCapPciExpress) {
      // Link Control and Status share a double word: speed in bits 19..16, width in 25..20.
      const std::uint32_t both = card.read_config(at + pci::kExpLinkStatus - 2);
      return LinkStatus{both >> 16 & 0xF, both >> 20 & 0x3F};
    }
    at = header >> 8 & 0xFC;
  }
  return std::nullopt;
}

}  // namespace npu::dsmi
