// SPDX-License-Identifier: Apache-2.0
// Copies to global memory that reduce: memory itself computes, so that many cores may store to the
// same elements in any order.
#pragma once

#include "npu/ascendc/types.hpp"

namespace npu::ascendc {

template <class T>
constexpr abi::ElementType element_of() {
  if constexpr (std::is_same_v<T, float>) return abi::ElementType::kFp32;
  if constexpr (std::is_same_v<T, half>) return abi::ElementType::kFp16;
  if constexpr (std::is_same_v<T, bfloat16_t>) return abi::ElementType::kBf16;
  if constexpr (std::is_same_v<T, std::int32_t>) return abi::ElementType::kInt32;
  if constexpr (std::is_same_v<T, std::int16_t>) return abi::ElementType::kInt16;
  if constexpr (std::is_same_v<T, std::int8_t>) return abi::ElementType::kInt8;
  return abi::ElementType::kFp64;
}

template <class T>
void reduce_stores(abi::ReduceOperation operation) {
  static_assert(element_of<T>() != abi::ElementType::kFp64,
                "memory reduces float, half, bfloat16_t, int32_t, int16_t and int8_t");
  on_core([&](auto& port) { port.set_store_reduction({operation, element_of<T>()}); });
}

}  // namespace npu::ascendc

namespace AscendC {

// DataCopy, DataCopyPad and Fixpipe to global memory from now on, until SetAtomicNone() or the end
// of the block: each element becomes the sum, the larger or the smaller one of itself and what is
// stored. Integers wrap. Addresses and sizes are multiples of the element's size.
template <class T>
void SetAtomicAdd() {
  npu::ascendc::reduce_stores<T>(npu::abi::ReduceOperation::kSum);
}
template <class T>
void SetAtomicMax() {
  npu::ascendc::reduce_stores<T>(npu::abi::ReduceOperation::kMax);
}
template <class T>
void SetAtomicMin() {
  npu::ascendc::reduce_stores<T>(npu::abi::ReduceOperation::kMin);
}
// They replace what is there.
inline void SetAtomicNone() {
  npu::ascendc::reduce_stores<float>(npu::abi::ReduceOperation::kNone);
}

}  // namespace AscendC
