// SPDX-License-Identifier: Apache-2.0
// Compiled for what every machine has.
#include <cstddef>

namespace npu::model::arithmetic {
constexpr std::size_t kWidth = 16;  // bytes of a vector
}
#include "model/aicore/arithmetic/product_loops.hpp"

namespace npu::model::arithmetic {

#ifdef __x86_64__
extern const ProductKernel product_avx2;
extern const ProductKernel product_avx512;
#endif

const ProductKernel* product_kernel(std::size_t width) {
  static const ProductKernel plain{scratch_floats, multiply_halves};
  if (width == kWidth) return &plain;
#ifdef __x86_64__
  if (width == 64 && __builtin_cpu_supports("avx512f")) return &product_avx512;
  if (width == 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    return &product_avx2;
  }
#endif
  return nullptr;
}

}  // namespace npu::model::arithmetic
