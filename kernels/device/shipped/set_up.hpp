// SPDX-License-Identifier: Apache-2.0
// What a kernel does between its arguments and its first copy; what makes the launch of a large
// library's kernel longer than that of a small one.
#pragma once

#include <cstdint>

#include "npu/abi/handshake.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::kernels::vector {

// Where a kernel has the sizes of its tiles from.
enum class Tiling : std::uint8_t {
  kArguments,  // and it sets up nothing: a small kernel
  kConstant,   // compiled in; pipes, queues and buffers are objects that are set up
  kRunTime,    // as kConstant, but from a structure in global memory, made for this launch
};
inline constexpr unsigned kTilings = 3;

// Calibrated: run-time tiling costs 1.3 us more than constant tiling (kernel-times.md K2: 3.5
// and 2.2 us from the launch to the first copy). This gives 1.2; one line more lies in another
// slice of the L2 and costs 0.4 us.
inline constexpr unsigned kTilingBytes = 512;
// Of the scalar unit, besides the kernel's own instructions. Calibrated: 2.185 us from the kernel's
// init to its first copy with constant tiling (docs/accuracy/rows.csv, A0012). Where the image lies
// in memory makes 0.15 us of difference.
inline constexpr unsigned kSetUpClocks = 300;

inline void set_up(platform::AicorePort& port, Tiling tiling, std::uint64_t structure) {
  if (tiling == Tiling::kArguments) return;
  if (tiling == Tiling::kRunTime) {
    // Copied word by word, so that one line is asked for after the other.
    for (std::uint64_t at = structure; at < structure + kTilingBytes; at += abi::kCacheLine) {
      port.clean_invalidate(at);
      port.load(at, 8);
    }
  }
  port.scalar(kSetUpClocks);
}

}  // namespace npu::kernels::vector
