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
// Assumed: with its instructions what run-time tiling costs more than constant tiling, 1.3 us
// (kernel-times.md K2: 3.5 and 2.2 us from the launch to the first copy).
inline constexpr unsigned kTilingBytes = 512;

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
