// SPDX-License-Identifier: Apache-2.0
// Types and layouts of a multiplication from its macros, and which of them there are.
#pragma once

#include "kernels/device/common/macros.hpp"
#include "kernels/device/common/operand.hpp"
#include "npu/aicore/tiles.hpp"

namespace npu::kernels::matmul {

inline constexpr DataType kTypeA = element_type(NPU_JIT_TEXT(NPU_JIT_ELEMENT_A));
static_assert(kTypeA != kNoType, "NPU_JIT_ELEMENT_A" NPU_JIT_ELEMENTS);
inline constexpr DataType kTypeB = element_type(NPU_JIT_TEXT(NPU_JIT_ELEMENT_B));
static_assert(kTypeB != kNoType, "NPU_JIT_ELEMENT_B" NPU_JIT_ELEMENTS);
inline constexpr DataType kTypeC = element_type(NPU_JIT_TEXT(NPU_JIT_ELEMENT_C));
static_assert(kTypeC != kNoType, "NPU_JIT_ELEMENT_C" NPU_JIT_ELEMENTS);
inline constexpr Layout kLayoutA = layout(NPU_JIT_TEXT(NPU_JIT_LAYOUT_A));
static_assert(kLayoutA != Layout::kNone, "NPU_JIT_LAYOUT_A" NPU_JIT_LAYOUTS);
inline constexpr Layout kLayoutB = layout(NPU_JIT_TEXT(NPU_JIT_LAYOUT_B));
static_assert(kLayoutB != Layout::kNone, "NPU_JIT_LAYOUT_B" NPU_JIT_LAYOUTS);

static_assert(kTypeA == kTypeB, "NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_B must be one type");
static_assert(is_real(kTypeA) || kTypeA == DataType::kInt8,
              "the cube multiplies half, bfloat16, float and int8: NPU_JIT_ELEMENT_A is none");
static_assert(!is_real(kTypeA) || is_real(kTypeC),
              "a product of reals is half, bfloat16 or float: NPU_JIT_ELEMENT_C is none");

inline constexpr DataType kAccumulator = aicore::accumulator(kTypeA);

#ifdef NPU_JIT_ELEMENT_BIAS
inline constexpr DataType kTypeBias = element_type(NPU_JIT_TEXT(NPU_JIT_ELEMENT_BIAS));
#else
inline constexpr DataType kTypeBias = kAccumulator;
#endif
// The cube begins C with it.
inline constexpr bool kBiasOfCube =
    kTypeBias == kAccumulator || (is_real(kTypeA) && kTypeBias == DataType::kFp16);

// Of a kernel that writes the cube's results itself.
inline constexpr bool kConvertedByFixpipe = is_real(kTypeA) || kTypeC == DataType::kInt32 ||
                                            kTypeC == DataType::kFp32 || kTypeC == DataType::kFp16;

// Of one that has int32 scaled by FixPipe; bfloat16 by some chips alone.
inline constexpr bool kScaledByFixpipe = kTypeC == DataType::kFp16 || kTypeC == DataType::kBf16;

using OperandA = Operand<kLayoutA, Fixed<kTypeA>>;
using OperandB = Operand<kLayoutB, Fixed<kTypeB>>;

}  // namespace npu::kernels::matmul
