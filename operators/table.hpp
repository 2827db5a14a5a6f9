// SPDX-License-Identifier: Apache-2.0
// The operators there are: a row for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/jit/key.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::operators {

using platform::DataType;

// Which structure of npu/operators/params.hpp it takes, and how its shape is written.
enum class Family : std::uint8_t {
  kMatmul,   // m, n, k
  kBatched,  // batch, m, n, k
  kSplitK,   // m, n, k; MatmulParams and the number of parts
};

struct OperatorRow {
  std::string_view name;
  Family family;
  std::string_view file;  // of operators/templates
  jit::KernelType type;
  bool integers;  // int8 into int32
};

const std::vector<OperatorRow>& operator_table();
// kNotFound; the context lists those there are.
Result<const OperatorRow*> find_operator(std::string_view name);

// "half" for fp16 and so on, as macros have it; empty: none of the types.
std::string_view macro_name(DataType type);
// Every usual spelling: "float16", "fp16", "half". kInvalidArgument.
Result<DataType> parse_type(const std::string& text);

}  // namespace npu::operators
