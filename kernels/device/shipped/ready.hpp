// SPDX-License-Identifier: Apache-2.0
// What the kernel `ready` is told.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/device/shipped/set_up.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::ready {

struct Work {
  platform::SetUp set_up;
  // With Tiling::kRunTime: where so many bytes of it lie.
  std::uint64_t structure = 0, bytes = vector::kTilingBytes;
};

inline constexpr unsigned kWords = 3;
inline constexpr std::uint64_t kMostBytes = 16'384;
inline constexpr std::uint64_t kPipe = 1 << 8, kMixed = 1 << 9;

inline std::array<std::uint64_t, kWords> to_words(const Work& work) {
  const auto tiling = static_cast<std::uint64_t>(work.set_up.tiling);
  return {tiling | (work.set_up.pipe ? kPipe : 0) | (work.set_up.mixed ? kMixed : 0),
          work.structure, work.bytes};
}

inline Work from_words(const std::array<std::uint64_t, kWords>& words) {
  Work work;
  work.set_up.tiling = aicore::enumerator<platform::Tiling>(words[0] & 0xFF, platform::kTilings);
  work.set_up.pipe = (words[0] & kPipe) != 0;
  work.set_up.mixed = (words[0] & kMixed) != 0;
  work.structure = words[1];
  work.bytes = words[2];
  return work;
}

inline bool valid(const Work& work) {
  return static_cast<unsigned>(work.set_up.tiling) < platform::kTilings && work.bytes <= kMostBytes;
}

}  // namespace npu::kernels::ready
