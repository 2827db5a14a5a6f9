// SPDX-License-Identifier: Apache-2.0
// Functions that the cores know without a binary, by function id. Each of `blocks` blocks works on
// its part of the elements: block b on [n b / blocks, n (b + 1) / blocks).
#pragma once

#include <cstdint>

namespace npu::abi {

enum class KernelFunction : std::uint32_t {
  kFill = 1,       // destination[i] = value (32 bit)
  kCopy = 2,       // destination[i] = source_a[i] (32 bit)
  kVectorAdd = 3,  // destination[i] = source_a[i] + source_b[i] (fp32)
  kSpin = 4,       // `value` cycles per block, no memory
};

// What LaunchPayload::arguments points to.
struct KernelArguments {
  std::uint64_t destination = 0;  // 0   4 B aligned, as are the sources
  std::uint64_t source_a = 0;     // 8
  std::uint64_t source_b = 0;     // 16
  std::uint64_t elements = 0;     // 24
  std::uint64_t value = 0;        // 32
};
static_assert(sizeof(KernelArguments) == 40);

}  // namespace npu::abi
