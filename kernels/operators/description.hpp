// SPDX-License-Identifier: Apache-2.0
// Descriptions of operators: YAML files beside their sources (docs/own-operators.md).
#pragma once

#include <cstdint>
#include <map>
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

// An input or a result. Without a shape: the operator's family knows it.
struct TensorRow {
  std::string name;
  std::string shape;  // over the sides: "rows, columns / 2"
  std::string dtype;  // empty: of the inputs, or of the first result
  std::string below;  // of indices: they are smaller than this; empty: its elements are numbers
};

struct OperatorRow {
  std::string name;
  Family family = Family::kTensors;
  std::string folder;  // of its source; empty: kernels/device/operators
  std::string file;
  jit::KernelType type = jit::KernelType::kVector;
  std::string sides;  // its numbers, by name: "m, n, k"; "sides": 1 to kMostAxes of them
  std::vector<TensorRow> inputs, results;  // in the order of OperatorCall's
  // What the row fixes; empty: the call says it, or there is none.
  std::string expression;       // of every element
  jit::Macros macros;           // without NPU_JIT_
  std::string out;              // type of the first result unless the call names one
  std::vector<DataType> types;  // of the inputs; empty: those that the source takes
  unsigned roundings = 4;       // of its types that a result may be off by

  // Of a folder of one's own: its tensors have shapes.
  bool described() const { return !folder.empty(); }
};

// The operators of a file. `folder`: where their sources are, as rows have it; empty: those that
// npusim brings along, whose tensors need no shapes. kInvalidArgument: one line that names file,
// line and key. kNotFound, kPermissionDenied, kIo: it cannot be read.
Result<std::vector<OperatorRow>> read_descriptions(const std::string& file,
                                                   const std::string& folder);

// The sides' names, in order: "rows", "columns".
std::vector<std::string> names_of(std::string_view sides);

// The numbers of a text over an operator's sides, such as a tensor's shape. kInvalidArgument: a
// name that is no side, a division by 0 or one that leaves a remainder, a product above 2^44.
Result<std::vector<std::uint64_t>> numbers_of(std::string_view text, const OperatorRow& row,
                                              const std::vector<std::uint64_t>& sides);

// How many numbers such a text has. kInvalidArgument: what no sides make good.
Result<std::size_t> check_numbers(std::string_view text, const OperatorRow& row);

// A C identifier that is not too long.
bool is_tensor_name(const std::string& text);

// An operator's sides from the shapes of its inputs, for callers that have tensors: a dimension
// that is a side's name alone is that side, the others have to come out. `given`: sides that no
// dimension is, by name. kInvalidArgument: too few or too many inputs, a shape that is another one,
// a side that is nowhere.
Result<std::vector<std::uint64_t>> sides_of(const OperatorRow& row,
                                            const std::vector<std::vector<std::uint64_t>>& inputs,
                                            const std::map<std::string, std::uint64_t>& given);

// "half" for fp16 and so on, as macros have it; empty: none of the types.
std::string_view macro_name(DataType type);
// "float16" and so on, as callers have it; empty: none of the types.
std::string_view type_name(DataType type);
// float16, bfloat16, float32.
bool is_real_type(DataType type);
// Every usual spelling: "float16", "fp16", "half". kInvalidArgument.
Result<DataType> parse_type(const std::string& text);

}  // namespace npu::operators
