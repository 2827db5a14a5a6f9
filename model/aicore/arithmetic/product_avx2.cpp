// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2.
#include <cstddef>

namespace npu::model::arithmetic {
constexpr std::size_t kWidth = 32;  // bytes of a vector
}
#include "model/aicore/arithmetic/product_loops.hpp"

namespace npu::model::arithmetic {

extern const ProductKernel kProductAvx2;
const ProductKernel kProductAvx2{scratch_floats, multiply_pieces};

}  // namespace npu::model::arithmetic
