// SPDX-License-Identifier: Apache-2.0
// Every kernel that npusim carries, with argument words of a small task.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "kernels/device/shipped/attention.hpp"
#include "kernels/device/shipped/elementwise.hpp"
#include "kernels/device/shipped/matmul.hpp"
#include "kernels/device/shipped/operators.hpp"

namespace npu::test {

using platform::DataType;

inline constexpr std::uint64_t kIn = 0x40'0000, kIn2 = 0x80'0000, kOut = 0xC0'0000,
                               kOut2 = 0x100'0000;

using TaskWords = std::vector<std::uint64_t>;

inline TaskWords product_words(bool fused) {
  constexpr std::uint32_t kSide = 150;  // several tiles, none of them whole
  kernels::gemm::Problem p;
  p.a = kIn, p.b = kIn2, p.c = kOut;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = kSide;
  p.type = p.to_type = DataType::kFp32;
  p.tiling = {64, 64, 64, 32};
  const auto words = kernels::gemm::to_words(p);
  TaskWords all(words.begin(), words.end());
  if (fused) all.push_back(kOut2);
  return all;
}
inline TaskWords elementwise_words() {
  kernels::vector::Elementwise work;
  work.to = kOut, work.a = kIn, work.b = kIn2;
  work.count = 100'000;
  const auto words = kernels::vector::to_words(work);
  return {words.begin(), words.end()};
}
inline TaskWords operator_words() {
  kernels::vector::OperatorWork work;
  work.to = kOut, work.a = kIn, work.b = kIn2;
  work.count = 50'000;
  work.op = kernels::vector::Operator::kGelu;
  const auto words = kernels::vector::to_words(work);
  return {words.begin(), words.end()};
}
inline TaskWords scores_words() {
  const kernels::attention::Scores work{kIn, kIn2, kOut, 64, 600, 64, DataType::kFp32};
  return {kIn, kIn2, kOut, work.shape(), work.depth()};
}
inline TaskWords softmax_words() {
  const kernels::attention::Softmax work{kIn, kIn2, kOut, 2000, 64, DataType::kFp32, 1};
  return {kIn, kIn2, kOut, work.shape(), static_cast<std::uint64_t>(work.type), work.scale_bits()};
}
inline TaskWords update_words() {
  const kernels::attention::Update work{kIn, kIn2, kOut, kOut2, 64, 512, false, false};
  return {kIn, kIn2, kOut, kOut2, work.shape(), work.place()};
}

struct Shipped {
  const char* name;
  TaskWords words;
  friend std::ostream& operator<<(std::ostream& out, const Shipped& kernel) {
    return out << kernel.name;
  }
};

inline std::vector<Shipped> shipped_kernels() {
  return {Shipped{"empty", {}},
          Shipped{"spin", {1000}},
          Shipped{"ready", {static_cast<std::uint64_t>(platform::Tiling::kRunTime), kIn, 512}},
          Shipped{"matmul", product_words(false)},
          Shipped{"matmul_relu", product_words(true)},
          Shipped{"elementwise", elementwise_words()},
          Shipped{"operators", operator_words()},
          Shipped{"attention_scores", scores_words()},
          Shipped{"attention_softmax", softmax_words()},
          Shipped{"attention_update", update_words()}};
}

}  // namespace npu::test
