// SPDX-License-Identifier: Apache-2.0
// The words of a fused task: those of the multiplication, and the result's address behind them.
#pragma once

#include "kernels/device/shipped/matmul.hpp"

namespace npu::kernels::fused {

inline constexpr unsigned kResultWord = gemm::kWords;
inline constexpr unsigned kWords = gemm::kWords + 1;

}  // namespace npu::kernels::fused
