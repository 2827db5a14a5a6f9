// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kernels/operators/description.hpp"
#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

struct TypeName {
  std::string_view text;
  DataType type;
};

// The macros' own names first, then those that callers have, where they are others.
constexpr TypeName kTypeNames[] = {
    {"half", DataType::kFp16},    {"bfloat16", DataType::kBf16}, {"float", DataType::kFp32},
    {"int8", DataType::kInt8},    {"int32", DataType::kInt32},   {"int64", DataType::kInt64},
    {"float16", DataType::kFp16}, {"float32", DataType::kFp32},  {"fp16", DataType::kFp16},
    {"f16", DataType::kFp16},     {"bf16", DataType::kBf16},     {"fp32", DataType::kFp32},
    {"f32", DataType::kFp32},     {"i8", DataType::kInt8},       {"i32", DataType::kInt32},
    {"i64", DataType::kInt64},
};

}  // namespace

std::string_view macro_name(DataType type) {
  const auto* found = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                   [&](const TypeName& row) { return row.type == type; });
  return found == std::end(kTypeNames) ? std::string_view() : found->text;
}

std::string_view type_name(DataType type) {
  return type == DataType::kFp16   ? "float16"
         : type == DataType::kFp32 ? "float32"
                                   : macro_name(type);
}

bool is_real_type(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kFp32;
}

Result<DataType> parse_type(const std::string& text) {
  for (const auto& row : kTypeNames) {
    if (row.text == text) return row.type;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\" is no element type: float16, bfloat16, float32, int8, int32 or "
                          "int64",
                          shortened(text)));
}

}  // namespace npu::operators
