// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX512.
#include <cstddef>

namespace npu::model::arithmetic {
constexpr std::size_t kWidth = 64;  // bytes of a vector
}
#include "model/aicore/arithmetic/product_loops.hpp"

namespace npu::model::arithmetic {

extern const ProductKernel kProductAvx512;
const ProductKernel kProductAvx512{scratch_floats, multiply_pieces};

}  // namespace npu::model::arithmetic
