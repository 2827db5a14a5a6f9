// SPDX-License-Identifier: Apache-2.0
// The compile-time parameters: what the macros NPU_JIT_* say, by name. A wrong or missing one is
// one clear error.
#pragma once

#include <string_view>

#include "npu/platform/aicore_port.hpp"

#define NPU_JIT_QUOTE(...) #__VA_ARGS__
#define NPU_JIT_TEXT(macro) NPU_JIT_QUOTE(macro)  // a missing one's is its own name

// The kernel's name in messages.
#ifndef NPU_JIT_KERNEL_NAME
#define NPU_JIT_KERNEL_NAME operator
#endif

namespace npu::kernels {

using platform::DataType;

inline constexpr auto kNoType = static_cast<DataType>(0xFF);

constexpr DataType element_type(std::string_view name) {
  constexpr std::string_view kNames[platform::kDataTypes] = {"half", "bfloat16", "float",
                                                             "int8", "int32",    "int64"};
  for (unsigned i = 0; i < platform::kDataTypes; ++i) {
    if (name == kNames[i]) return static_cast<DataType>(i);
  }
  return kNoType;
}
constexpr bool is_real(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kFp32;
}

enum class Layout : std::uint8_t {
  kRowMajor,
  kColumnMajor,
  kZn,    // fractals of 16 x 32 B, rows in a fractal, fractals column by column (NZ)
  kNz,    // zN of the transposed matrix
  kNone,  // no layout's name
};
constexpr Layout layout(std::string_view name) {
  return name == "RowMajor"      ? Layout::kRowMajor
         : name == "ColumnMajor" ? Layout::kColumnMajor
         : name == "zN"          ? Layout::kZn
         : name == "nZ"          ? Layout::kNz
                                 : Layout::kNone;
}
constexpr bool transposed(Layout layout) {
  return layout == Layout::kColumnMajor || layout == Layout::kNz;
}
constexpr bool fractal(Layout layout) {
  return layout == Layout::kZn || layout == Layout::kNz;
}

}  // namespace npu::kernels

// Behind a macro's name: what it has to be.
#define NPU_JIT_ELEMENTS " must be half, bfloat16, float, int8, int32 or int64"
#define NPU_JIT_LAYOUTS " must be RowMajor, ColumnMajor, zN or nZ"
