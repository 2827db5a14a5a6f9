// SPDX-License-Identifier: Apache-2.0
// Elements that vector cores compute with in operations of several cards.
#pragma once

#include "npu/abi/element.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::collectives {

// kDataTypes: none of them.
constexpr platform::DataType vector_type(abi::ElementType type) {
  switch (type) {
    case abi::ElementType::kFp32:
      return platform::DataType::kFp32;
    case abi::ElementType::kFp16:
      return platform::DataType::kFp16;
    case abi::ElementType::kBf16:
      return platform::DataType::kBf16;
    case abi::ElementType::kInt32:
      return platform::DataType::kInt32;
    default:
      return aicore::data_type(platform::kDataTypes);
  }
}

constexpr bool is_real(abi::ElementType type) {
  return type == abi::ElementType::kFp32 || type == abi::ElementType::kFp16 ||
         type == abi::ElementType::kBf16;
}

}  // namespace npu::kernels::collectives
