// SPDX-License-Identifier: Apache-2.0
// What programs on AICPUs have done, in all and by the phase that they said they were in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "npu/platform/aicpu_port.hpp"

namespace npu::model {

struct AicpuWork {
  std::uint64_t instructions = 0;  // of programs that count them
  std::uint64_t loads = 0, misses = 0, stores = 0, atomics = 0;
  std::uint64_t register_loads = 0, register_stores = 0;

  AicpuWork& operator+=(const AicpuWork& other) {
    instructions += other.instructions;
    loads += other.loads, misses += other.misses;
    stores += other.stores, atomics += other.atomics;
    register_loads += other.register_loads, register_stores += other.register_stores;
    return *this;
  }
  AicpuWork since(const AicpuWork& before) const {
    return {instructions - before.instructions,
            loads - before.loads,
            misses - before.misses,
            stores - before.stores,
            atomics - before.atomics,
            register_loads - before.register_loads,
            register_stores - before.register_stores};
  }
};

inline constexpr std::size_t kAicpuPhases =
    static_cast<std::size_t>(platform::AicpuPhase::kEvictPage) + 1;
using AicpuPhases = std::array<AicpuWork, kAicpuPhases>;

struct AicpuStatistics : AicpuWork {
  const AicpuWork& work() const { return *this; }
  AicpuPhases phases;                            // that have ended
  std::uint64_t rounds = 0, rounds_skipped = 0;  // of poll loops; skipped ones are among them
};

}  // namespace npu::model
