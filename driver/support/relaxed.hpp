// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace npu::driver {

// For counters, and for indices that say nothing about other memory.
inline constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace npu::driver
