// SPDX-License-Identifier: Apache-2.0
// What the operating system found at boot.
#pragma once

#include <functional>

#include "npu/base/units.hpp"
#include "npu/platform/platform.hpp"

namespace npu::model {

// Where a BAR lies. Size 0: no such BAR.
struct BarResource {
  std::uint64_t address = 0;
  Bytes size = 0;
};
using ResourceLookup = std::function<BarResource(platform::Bdf, unsigned bar)>;
// The function may hold translations of the host's.
using AtsLookup = std::function<bool(platform::Bdf)>;

}  // namespace npu::model
