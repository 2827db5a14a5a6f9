// SPDX-License-Identifier: Apache-2.0
// A call of an operator that is compiled on demand. The window has the inputs, the results, and the
// operator's name behind them.
#pragma once

#include <cstdint>

namespace npu::compat::wire {

inline constexpr std::uint64_t kMostTensors = 16;  // of a call, inputs and results
inline constexpr std::uint64_t kMostDimensions = 8;
inline constexpr std::uint64_t kLongestOperator = 64;  // its name

struct OperatorTensor {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // from there on
  std::uint64_t type = 0;   // aclDataType
  std::uint64_t dimensions = 0;
  std::uint64_t sides[kMostDimensions] = {};
};

struct OperatorRun {
  std::uint64_t stream = 0;
  std::uint64_t inputs = 0, results = 0;
  std::uint64_t name_bytes = 0;
  std::uint64_t epsilon_and_scale = 0, value = 0;  // bits of floats; epsilon in the low half
};

}  // namespace npu::compat::wire
