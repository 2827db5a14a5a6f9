// SPDX-License-Identifier: Apache-2.0
// Names of what lies at an offset of a BAR or of configuration space, from the ABI's tables.
#pragma once

#include <string>

#include "npu/base/units.hpp"

namespace npu::testkit {

// BAR0: "DMA_DOORBELL", "EVENT[3]", "MSIX_TABLE[7]", "MSIX_PBA".
std::string bar0_name(Bytes offset);
// BAR2 of a card that lets its host allocate `hbm_size` bytes: "DMA_RING[12]",
// "STREAM[0].STREAM_CONTROL", "DOORBELL_PAGE[1]", "QUEUE_MEMORY", "PAGE_TABLES", "HBM".
std::string bar2_name(Bytes offset, Bytes hbm_size);
// "COMMAND", "BAR0", or "CONFIG" for what is no register of the common header.
std::string config_name(std::uint32_t offset);

}  // namespace npu::testkit
