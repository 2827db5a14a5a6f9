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

// Which structure of npu/operators/params.hpp it takes.
enum class Family : std::uint8_t {
  kMatmul,
  kBatched,
  kGrouped,
  kSplitK,
  kQuant,
  kGemv,
  kVector,
  kSoftmax,
  kRmsNorm,
  kSwiGlu,
  kDynamicQuant,
  kAddRmsNorm,
  kAddRmsNormDynamicQuant,
  kDequantSwigluQuant,
  kAttention,
  kBroadcast,
  kTranspose,
  kSoftmaxAxis,
  kGroupNorm,
  kAdamW,
  kLayerNorm,
  kGather,
  kCacheWrite,
  kTensors,  // npu/operators/tensor_params.hpp
};

struct OperatorRow {
  std::string_view name;
  Family family;
  std::string_view file;  // of kernels/device/operators
  jit::KernelType type;
  std::string_view shape;   // its numbers, by name: "m, n, k"; "sides": 1 to kMostAxes of them
  std::string_view inputs;  // the tensors that it reads, in the order of OperatorCall::inputs
  std::string_view results = "result";  // that it writes, in the order of OperatorCall::results
  // What the row fixes; empty: the call says it, or there is none.
  std::string_view expression = "";  // of every element
  std::string_view macros = "";      // without NPU_JIT_: "SMALLEST=1,INDICES=1"
  std::string_view out = "";         // type of the first result unless the call names one
};

const std::vector<OperatorRow>& operator_table();
// kNotFound; the context lists those there are.
Result<const OperatorRow*> find_operator(std::string_view name);

// "half" for fp16 and so on, as macros have it; empty: none of the types.
std::string_view macro_name(DataType type);
// Every usual spelling: "float16", "fp16", "half". kInvalidArgument.
Result<DataType> parse_type(const std::string& text);

}  // namespace npu::operators
