// SPDX-License-Identifier: Apache-2.0
// The capabilities that describe a PCI Express port and its link.
// Source: PCIe Base 4.0, 7.5.3 (PCI Express), 7.8.4 (AER), 7.7.3 (Secondary PCI Express).
#pragma once

#include "model/pcie/capabilities.hpp"

namespace npu::model {

std::uint32_t add_express(ConfigSpace& space, const BridgeIdentity& identity);
// A virtual function's: what it shares with the physical one is controlled there (SR-IOV 1.1, 3.5).
std::uint32_t add_virtual_express(ConfigSpace& space, const BridgeIdentity& identity);
std::uint32_t add_error_reporting(ConfigSpace& space, bool is_root);
// What the link's generation asks for beyond that.
void add_link_capabilities(ConfigSpace& space, const LinkConfig& link);

}  // namespace npu::model
