// SPDX-License-Identifier: Apache-2.0
// What a product of matrices does on its way: it reads an operand by columns, and begins its sums
// with a bias.
#include "workloads/network/passes/pass.hpp"

namespace npu::network::passes {
namespace {

constexpr char kFused[] = "FusedMatMul";

// Of the last two axes, and of no others.
bool swaps_rows_and_columns(const Node& transpose) {
  const auto order = transpose.attribute("perm", std::vector<std::int64_t>{});
  if (order.size() < 2) return false;
  const auto last = static_cast<std::int64_t>(order.size()) - 1;
  for (std::int64_t i = 0; i + 2 <= last; ++i) {
    if (order[static_cast<std::size_t>(i)] != i) return false;
  }
  return order[static_cast<std::size_t>(last)] == last - 1 &&
         order[static_cast<std::size_t>(last - 1)] == last;
}

bool turn(GraphEdit& edit, std::size_t place) {
  const auto& product = edit.node(place);
  Node fused;
  fused.op = kFused;
  fused.inputs = product.inputs;
  std::vector<std::size_t> places{place};
  constexpr const char* kFlags[] = {"transA", "transB"};
  for (const std::size_t side : {0, 1}) {
    const auto transpose = edit.maker(product.inputs[side], "Transpose");
    // One of constants runs once.
    if (!transpose || edit.node(*transpose).prepared) continue;
    if (!swaps_rows_and_columns(edit.node(*transpose)) || !edit.is_closed({place, *transpose})) {
      continue;
    }
    fused.inputs[side] = edit.node(*transpose).inputs[0];
    fused.attributes[kFlags[side]] = std::int64_t{1};
    places.push_back(*transpose);
  }
  if (places.size() == 1 || product.inputs[0] == product.inputs[1]) return false;
  edit.fuse(places, std::move(fused));
  return true;
}

}  // namespace

std::size_t turn_products(GraphEdit& edit) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    if (is_op(edit.node(i), "MatMul")) found += turn(edit, i) ? 1 : 0;
  }
  return found;
}

std::size_t begin_with_bias(GraphEdit& edit) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    const auto& sum = edit.node(i);
    if (!is_op(sum, "Add")) continue;
    for (const std::size_t side : {0, 1}) {
      auto product = edit.maker(sum.inputs[side], "MatMul");
      if (!product) product = edit.maker(sum.inputs[side], kFused);
      const auto* const bias = edit.constant(sum.inputs[1 - side]);
      if (!product || bias == nullptr || bias->sides.size() != 1) continue;
      if (edit.node(*product).prepared || !edit.is_closed({*product, i})) continue;
      Node fused = edit.node(*product);
      fused.op = kFused;
      fused.parts.clear();
      fused.inputs.push_back(sum.inputs[1 - side]);
      edit.fuse({*product, i}, std::move(fused));
      ++found;
      break;
    }
  }
  return found;
}

}  // namespace npu::network::passes
