// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/operation_list.hpp"

namespace npu::workloads::transformer {
namespace {

// The logits are kept in fp32, as models' own code does: a rounding more would choose others.
void route(const StepPlace& place, std::uint64_t layer, OperationList& list) {
  const auto& [model, shape, memory, step] = place;
  const auto& experts = model.experts;
  const auto& weights = memory.layers[layer];
  list.multiply("router", {shape.rows(), experts.count, model.hidden}, step.normed, weights.router,
                step.experts.logits)
      .out_dtype = "float32";
  const char* const name = experts.sigmoid ? "moe_gating_top_k" : "moe_gating_top_k_softmax";
  auto& gating = list.add("gating", name,
                          {shape.rows(), experts.count, experts.chosen, experts.groups,
                           experts.kept, experts.normalised ? 1U : 0U},
                          {step.experts.logits, weights.router_bias},
                          {step.experts.weights, memory.choices[layer]});
  gating.dtype = "float32";
  gating.scale = static_cast<float>(experts.scale);
}

// What all tokens go through.
void share(const StepPlace& place, std::uint64_t layer, OperationList& list) {
  const auto& [model, shape, memory, step] = place;
  const std::uint64_t inner = model.experts.shared_inner, rows = shape.rows();
  if (inner == 0) return;
  const auto& weights = memory.layers[layer];
  list.multiply("shared", {rows, 2 * inner, model.hidden}, step.normed, weights.gate_up,
                step.experts.shared_gate_up);
  list.add("shared", "swi_glu", {rows, 2 * inner}, {step.experts.shared_gate_up},
           {step.experts.shared_inner});
  list.multiply("shared", {rows, model.hidden, inner}, step.experts.shared_inner, weights.down,
                step.experts.shared_whole);
  if (!model.experts.shared_gated) return;
  list.multiply("shared_gate", {rows, 1, model.hidden}, step.normed, weights.shared_gate,
                step.experts.shared_logits);
  list.add("shared_gate", "elementwise", {rows}, {step.experts.shared_logits},
           {step.experts.shared_weights})
      .expression = "sigmoid(a)";
  auto& weighed =
      list.add("shared_gate", "broadcast", {rows, model.hidden},
               {step.experts.shared_whole, step.experts.shared_weights}, {step.experts.shared});
  weighed.other_shape = {rows, 1};
  weighed.expression = "a * b";
}

}  // namespace

// Where the rows of each expert end stays on the card: the host does not wait for it.
void add_experts(const StepPlace& place, std::uint64_t layer, std::uint64_t first,
                 OperationList& list) {
  const auto& [model, shape, memory, step] = place;
  const auto& experts = model.experts;
  const auto& weights = memory.layers[layer];
  const std::uint64_t rows = shape.rows(), hidden = model.hidden, own = experts.own();
  const std::uint64_t choices = rows * experts.chosen, ends = step.experts.ends;
  const bool outputs_first = !memory.fractals;  // layout_of()
  route(place, layer, list);
  share(place, layer, list);
  list.add("routing", "moe_init_routing", {rows, hidden, experts.chosen, experts.count, first, own},
           {step.normed, memory.choices[layer]},
           {step.experts.rows, step.experts.places, step.experts.ends});
  const auto product = [&](const char* part, std::uint64_t outputs, std::uint64_t inputs,
                           std::uint64_t from, std::uint64_t matrices, std::uint64_t to) {
    auto& call = list.add(part, "grouped_matmul", {own, choices, outputs, inputs},
                          {from, matrices, ends}, {to});
    call.transpose_b = outputs_first;
    call.format_b = list.layout();
    call.out_dtype = list.type();
    // Of a card's experts as many as of the others.
    list.count(2 * choices * outputs * inputs / experts.cards);
  };
  product("expert_gate_up", 2 * experts.inner, hidden, step.experts.rows, weights.expert_gate_up,
          step.experts.gate_up);
  list.add("expert_swi_glu", "swi_glu", {choices, 2 * experts.inner}, {step.experts.gate_up},
           {step.experts.inner});
  product("expert_down", hidden, experts.inner, step.experts.inner, weights.expert_down,
          step.experts.out);
  list.add("routing", "moe_finalize_routing", {rows, hidden, experts.chosen},
           {step.experts.out, step.experts.weights, step.experts.places, step.experts.shared},
           {step.out});
}

}  // namespace npu::workloads::transformer
