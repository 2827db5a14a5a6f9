// SPDX-License-Identifier: Apache-2.0
// Elements of data that the engines compute with, and what they compute: the inline reduction of
// copies (abi/queue_entry.hpp, ReducePayload).
#pragma once

#include <cstdint>

namespace npu::abi {

enum class ElementType : std::uint8_t {
  kInt8 = 0,
  kInt16 = 1,
  kInt32 = 2,
  kFp16 = 3,
  kBf16 = 4,
  kFp32 = 5,
  // These can only be moved.
  kInt64 = 6,
  kUint8 = 7,
  kUint16 = 8,
  kUint32 = 9,
  kUint64 = 10,
  kFp64 = 11,
};
inline constexpr std::uint8_t kElementTypes = 12;

enum class ReduceOperation : std::uint8_t {
  kNone = 0,  // a copy
  kSum = 1,
  kMax = 2,
  kMin = 3,
  kProduct = 4,  // which no engine computes
};

// In bytes; 0: no such type.
constexpr std::uint32_t element_size(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUint8:
      return 1;
    case ElementType::kInt16:
    case ElementType::kUint16:
    case ElementType::kFp16:
    case ElementType::kBf16:
      return 2;
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kFp32:
      return 4;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kFp64:
      return 8;
  }
  return 0;
}

// Whether the engines compute it.
constexpr bool can_reduce(ElementType type, ReduceOperation operation) {
  return static_cast<std::uint8_t>(type) <= static_cast<std::uint8_t>(ElementType::kFp32) &&
         operation >= ReduceOperation::kSum && operation <= ReduceOperation::kMin;
}

}  // namespace npu::abi
