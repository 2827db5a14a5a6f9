// SPDX-License-Identifier: Apache-2.0
// Numbers of 4 bytes in global memory that others have written: the scalar unit drops a line of its
// cache when it comes to it.
#pragma once

#include <cstring>

#include "npu/aicore/kernel.hpp"

namespace npu::kernels {

class Numbers {
 public:
  explicit Numbers(aicore::AicorePort& port) : port_(port) {}

  std::uint32_t read(std::uint64_t address) {
    const std::uint64_t line = address / abi::kCacheLine;
    if (line != line_) port_.clean_invalidate(line * abi::kCacheLine);
    line_ = line;
    return static_cast<std::uint32_t>(port_.load(address, 4));
  }
  float read_float(std::uint64_t address) {
    const std::uint32_t bits = read(address);
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }

 private:
  aicore::AicorePort& port_;
  std::uint64_t line_ = UINT64_MAX;
};

}  // namespace npu::kernels
