// SPDX-License-Identifier: Apache-2.0
// The registers in which a card keeps its oldest fault of a DMA command.
#pragma once

#include <optional>

#include "driver/link/card_link.hpp"
#include "npu/driver/device.hpp"

namespace npu::driver {

// Clears them, for the next fault. Nothing: there was none. As Device::take_fault().
Result<std::optional<FaultReport>> take_fault(CardLink& link);

}  // namespace npu::driver
