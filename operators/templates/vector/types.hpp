// SPDX-License-Identifier: Apache-2.0
// Types of operators on vector cores: what is loaded, what is computed in, what is stored.
#pragma once

#include "operators/templates/common/macros.hpp"

namespace npu::operators::vector {

NPU_JIT_TYPE_OF(kTypeA, NPU_JIT_ELEMENT_A);
NPU_JIT_TYPE_OF(kTypeC, NPU_JIT_ELEMENT_C);

// The unit computes in fp32 and int32 what it gets in narrower types; of int64 it knows the larger
// and the smaller one.
inline constexpr DataType kComputed = is_real(kTypeA)              ? DataType::kFp32
                                      : kTypeA == DataType::kInt64 ? DataType::kInt64
                                                                   : DataType::kInt32;

}  // namespace npu::operators::vector
