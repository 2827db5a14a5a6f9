// SPDX-License-Identifier: Apache-2.0
// Compiled for what every machine has.
#include <cstddef>

namespace npu::model::arithmetic {
constexpr std::size_t kWidth = 16;  // bytes of a vector
}
#include "model/aicore/arithmetic/product_loops.hpp"

namespace npu::model::arithmetic {

#ifdef __x86_64__
extern const ProductKernel kProductAvx2;
extern const ProductKernel kProductAvx512;
#endif

const ProductKernel* product_kernel(std::size_t width) {
  static const ProductKernel kPlain{scratch_floats, multiply_pieces};
  if (width == kWidth) return &kPlain;
#ifdef __x86_64__
  if (width == 64 && __builtin_cpu_supports("avx512f")) return &kProductAvx512;
  if (width == 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return &kProductAvx2;
  }
#endif
  return nullptr;
}

}  // namespace npu::model::arithmetic
