// SPDX-License-Identifier: Apache-2.0
// Types of operators on vector cores: what is loaded, what is computed in, what is stored.
#pragma once

#include "kernels/device/common/macros.hpp"

namespace npu::kernels::vector {

inline constexpr DataType kTypeA = element_type(NPU_JIT_TEXT(NPU_JIT_ELEMENT_A));
static_assert(kTypeA != kNoType, "NPU_JIT_ELEMENT_A" NPU_JIT_ELEMENTS);
inline constexpr DataType kTypeC = element_type(NPU_JIT_TEXT(NPU_JIT_ELEMENT_C));
static_assert(kTypeC != kNoType, "NPU_JIT_ELEMENT_C" NPU_JIT_ELEMENTS);

// The unit computes in fp32 and int32 what it gets in narrower types; of int64 it knows the larger
// and the smaller one.
inline constexpr DataType kComputed = is_real(kTypeA)              ? DataType::kFp32
                                      : kTypeA == DataType::kInt64 ? DataType::kInt64
                                                                   : DataType::kInt32;

}  // namespace npu::kernels::vector
