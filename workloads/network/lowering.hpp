// SPDX-License-Identifier: Apache-2.0
// What a node of a network is made of: a row for each operator of ONNX.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/network/graph.hpp"
#include "workloads/network/steps.hpp"

namespace npu::network {

// A node with its values; a row of the table fills `outputs`.
struct Lowering {
  Steps& steps;
  const Node& node;
  std::int64_t opset;
  std::vector<Value> inputs;  // empty ones: not given
  std::vector<bool> given;
  std::vector<Value> outputs;

  bool has(std::size_t input) const { return input < given.size() && given[input]; }
  // The axis of a tensor, negative ones from its end.
  std::size_t axis(std::int64_t axis, std::size_t axes) const;
  // Integers that the node needs when it is lowered: an input's, or an attribute's; both may be
  // missing.
  std::vector<std::int64_t> integers(std::size_t input, const std::string& attribute = "") const;
};

inline constexpr std::size_t kAllInputs = ~std::size_t{0};

struct LoweringRow {
  std::string_view op;
  // What it cannot do is refused by `steps`.
  void (*lower)(Lowering&);
  // How many of the first inputs are always given; of others it asks has().
  std::size_t needs = 1;
  // Over a and b: all that it does to reals; null: it is more than that.
  const char* expression = nullptr;
};

// By groups of operators.
extern const std::vector<LoweringRow> kElementLowerings, kFunctionLowerings, kCastLowerings,
    kProductLowerings, kAxisLowerings, kFillLowerings, kScatterLowerings, kReductionLowerings,
    kNormLowerings, kLossLowerings, kWindowLowerings, kResizeLowerings, kRecurrentLowerings,
    kSumLowerings, kSignalLowerings;

// Null: it is not among them.
const LoweringRow* find_lowering(const Node& node);
// Of fused nodes, which passes make (passes/pass.hpp).
struct FusedRow {
  std::string_view op;
  // False: not of these values; nothing has run then.
  bool (*lower)(Lowering&);
};
extern const std::vector<FusedRow> kFusedLowerings;
bool lower_fused_attention(Lowering& node);
// Null: it is none.
const FusedRow* find_fused(const Node& node);

// All, sorted by name.
std::vector<std::string_view> lowered_operators();

// --- what several groups use
// Elements as int32: of int8, uint8, bool and int32.
Value as_int32(Steps& steps, const Value& x);
// And back, of values in the type's range.
Value from_int32(Steps& steps, const Value& x, ElementType type);
Value cast(Steps& steps, const Value& x, ElementType type);
// Into bytes of the zero point's type, which saturate: x rounded, and the zero point added.
Value quantised(Steps& steps, const Value& x, const Value& zero);
// A number of the type.
Value number(Steps& steps, ElementType type, double value);

}  // namespace npu::network
