// SPDX-License-Identifier: Apache-2.0
// How a function tells an error of a TLP or of its link: AER, device status and, of a root port,
// root error status (PCIe 6.2, 7.8.4).
#pragma once

#include "model/pcie/capabilities.hpp"

namespace npu::model {

// A correctable error: a bit of AER's status.
void log_correctable(ConfigSpace& space, const CapabilityOffsets& at, std::uint32_t bit);
// An uncorrectable error: status, header log of the first one, device status.
void log_uncorrectable(ConfigSpace& space, const CapabilityOffsets& at, std::uint32_t bit,
                       const TlpHeader& header);
// What the port at the end of a link has found since it was `shown`.
void log_port_errors(ConfigSpace& space, const CapabilityOffsets& at, const LinkState& shown,
                     const LinkState& link);

}  // namespace npu::model
