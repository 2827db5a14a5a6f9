// SPDX-License-Identifier: Apache-2.0
// What a kernel does between its arguments and its first copy; what makes the launch of a large
// library's kernel longer than that of a small one.
#pragma once

#include <cstdint>

#include "npu/abi/handshake.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::kernels::vector {

using platform::Tiling;

// Of a structure of tilings, copied word by word, so that one line is asked for after the other.
// Fit: with the turns of 24 cores 3.5 us from the launch to the first copy (kernel-times.md K2).
inline constexpr unsigned kTilingBytes = 384;

inline void set_up(platform::AicorePort& port, const platform::SetUp& set_up,
                   std::uint64_t structure, std::uint64_t bytes = kTilingBytes) {
  if (set_up.tiling == Tiling::kRunTime) {
    for (std::uint64_t at = structure; at < structure + bytes; at += abi::kCacheLine) {
      port.clean_invalidate(at);
      port.load(at, 8);
    }
  }
  const bool nothing = set_up.tiling == Tiling::kNone && !set_up.pipe && !set_up.mixed;
  if (!nothing) port.set_up(set_up);
}

}  // namespace npu::kernels::vector
