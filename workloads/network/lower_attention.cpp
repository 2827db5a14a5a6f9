// SPDX-License-Identifier: Apache-2.0
// The fused node of attention (passes/attention.cpp) on the operator that keeps no scores.
#include <algorithm>
#include <optional>

#include "workloads/network/attention_mask.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"

namespace npu::network {
namespace {

// A head as long as this has a tile in the buffers of every chip.
constexpr std::uint64_t kLongestHead = 256;

// As batch x heads x rows x head, or batch x rows x heads x head.
struct Lying {
  std::uint64_t batch = 1, heads = 0, rows = 0, head = 0;

  static Lying of(const Sides& sides, bool inside) {
    const std::size_t last = sides.size() - 1;
    return {sides.size() == 4 ? sides[0] : 1, sides[inside ? last - 1 : last - 2],
            sides[inside ? last - 2 : last - 1], sides[last]};
  }
};

bool have_same_axes(const Lowering& node) {
  const auto& in = node.inputs;
  const auto& row = row_of(in[0].type);
  const std::size_t axes = in[0].axes();
  if (is_integer(in[0].type) || !row.card || (axes != 3 && axes != 4)) return false;
  return std::all_of(in.begin(), in.begin() + 3, [&](const Value& value) {
    return value.type == in[0].type && value.axes() == axes && value.elements() != 0;
  });
}

// Whether the mask is a number for each key of a batch, or of all.
bool is_of_keys(const Lowering& node, const Lying& q, const Lying& k) {
  const auto kind = static_cast<MaskKind>(node.node.attribute("mask", std::int64_t{0}));
  if (kind != MaskKind::kAdded) return false;
  const auto& mask = node.inputs[3];
  if (mask.type != node.inputs[0].type || mask.axes() == 0) return false;
  if (mask.axes() > node.inputs[0].axes() || mask.sides.back() != k.rows) return false;
  const bool is_by_batch = mask.axes() == 4 && mask.sides[0] == q.batch;
  return mask.elements() == k.rows * (is_by_batch ? q.batch : 1);
}

// None: the operator has no such mask, or it depends on inputs of the network.
std::optional<bool> is_causal(const Lowering& node, const Lying& q, const Lying& k) {
  const auto kind = static_cast<MaskKind>(node.node.attribute("mask", std::int64_t{0}));
  if (kind == MaskKind::kNone) return false;
  const auto& mask = node.inputs[3];
  if (mask.known == nullptr) return std::nullopt;
  const auto shape = shape_of(*mask.known, kind, q.rows, k.rows);
  // A mask that is larger than the scores would repeat them.
  const bool repeats = mask.axes() > node.inputs[0].axes() ||
                       (mask.axes() == 4 && mask.sides[0] > q.batch) || mask.elements() == 0;
  if (shape == MaskShape::kOther || repeats) return std::nullopt;
  return shape == MaskShape::kCausal;
}

}  // namespace

bool lower_fused_attention(Lowering& node) {
  const auto flag = [&node](const char* name) {
    return node.node.attribute(name, std::int64_t{0}) != 0;
  };
  const auto& in = node.inputs;
  if (!have_same_axes(node)) return false;
  const bool inside = flag("inside"), turned = flag("turned");
  const auto axis = node.node.attribute("axis", std::int64_t{-1});
  if (axis != -1 && axis + 1 != static_cast<std::int64_t>(in[0].axes())) return false;
  if ((inside || turned) && in[0].axes() != 4) return false;
  const auto q = Lying::of(in[0].sides, inside), k = Lying::of(in[1].sides, inside || turned),
             v = Lying::of(in[2].sides, inside);
  const bool fits = q.batch == k.batch && k.batch == v.batch && k.heads == v.heads &&
                    (k.heads == q.heads || k.heads == 1) && k.rows == v.rows && q.head == k.head &&
                    k.head == v.head && q.head <= kLongestHead;
  if (!fits) return false;
  const auto causal = is_causal(node, q, k);
  const bool masked = !causal && is_of_keys(node, q, k);
  if (!causal && !masked) return false;
  auto& steps = node.steps;
  const Value keys = turned && !inside ? transpose(steps, in[1], {0, 2, 1, 3}) : in[1];
  const auto result = steps.make(in[0].type, in[0].sides);
  operators::OperatorCall call;
  call.name = "flash_attention";
  call.dtype = call.out_dtype = steps.computes(in[0]);
  call.shape = {q.batch, q.heads, k.heads, q.rows, k.rows, q.head};
  call.scale = node.node.attribute("scale", 1.0F);
  call.causal = causal.value_or(false);
  if (masked) {
    call.masked = true;
    call.inputs[4] = in[3].address();
    call.mask_pitch = in[3].elements() == k.rows ? 0 : k.rows;
  }
  call.heads_inside = inside;
  steps.run(call, {&in[0], &keys, &in[2]}, result);
  node.outputs = {result};
  return true;
}

}  // namespace npu::network
