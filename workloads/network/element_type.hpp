// SPDX-License-Identifier: Apache-2.0
// Types of elements of ONNX tensors, a row each. Numbers are those of TensorProto.DataType.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "npu/base/units.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::network {

enum class ElementType : std::uint8_t {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

struct ElementRow {
  ElementType type;
  std::string_view name;  // as ONNX has it
  Bytes bytes;            // 0: of no fixed size
  // Of operators that compute with it; none: the cores have no instruction for it.
  std::optional<platform::DataType> card;
};

inline constexpr std::array<ElementRow, 14> kElementTypes{{
    {ElementType::kFloat, "float", 4, platform::DataType::kFp32},
    {ElementType::kUint8, "uint8", 1, {}},
    {ElementType::kInt8, "int8", 1, platform::DataType::kInt8},
    {ElementType::kUint16, "uint16", 2, {}},
    {ElementType::kInt16, "int16", 2, {}},
    {ElementType::kInt32, "int32", 4, platform::DataType::kInt32},
    {ElementType::kInt64, "int64", 8, platform::DataType::kInt64},
    {ElementType::kString, "string", 0, {}},
    {ElementType::kBool, "bool", 1, {}},
    {ElementType::kFloat16, "float16", 2, platform::DataType::kFp16},
    {ElementType::kDouble, "double", 8, {}},
    {ElementType::kUint32, "uint32", 4, {}},
    {ElementType::kUint64, "uint64", 8, {}},
    {ElementType::kBfloat16, "bfloat16", 2, platform::DataType::kBf16},
}};

constexpr const ElementRow* find_type(int onnx) {
  for (const auto& row : kElementTypes) {
    if (static_cast<int>(row.type) == onnx) return &row;
  }
  return nullptr;
}
constexpr const ElementRow& row_of(ElementType type) {
  return *find_type(static_cast<int>(type));
}
constexpr bool is_integer(ElementType type) {
  return type != ElementType::kFloat && type != ElementType::kFloat16 &&
         type != ElementType::kBfloat16 && type != ElementType::kDouble &&
         type != ElementType::kString;
}

}  // namespace npu::network
