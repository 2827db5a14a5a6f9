// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workloads/transformer/division.hpp"
#include "workloads/transformer/operation_list.hpp"

namespace npu::workloads::transformer {
namespace {

// The feed-forward part of some rows of a layer.
class ExpertsPart {
 public:
  ExpertsPart(const StepPlace& place, std::uint64_t layer, const RowRange& rows,
              OperationList& list)
      : model_(place.model),
        experts_(place.model.experts),
        memory_(place.memory),
        weights_(place.memory.layers[layer]),
        step_(place.step),
        rows_(rows),
        list_(list),
        choices_(place.memory.choices[layer] + rows.first * experts_.chosen * kIndex) {}

  // The logits are kept in fp32, as models' own code does: a rounding more would choose others.
  void route() {
    list_
        .multiply("router", {rows_.count, experts_.count, model_.hidden}, normed(), weights_.router,
                  step_.experts.logits)
        .out_dtype = "float32";
    const char* const name = experts_.sigmoid ? "moe_gating_top_k" : "moe_gating_top_k_softmax";
    auto& gating =
        list_.add("gating", name,
                  {rows_.count, experts_.count, experts_.chosen, experts_.groups, experts_.kept,
                   experts_.normalised ? 1U : 0U},
                  {step_.experts.logits, weights_.router_bias}, {step_.experts.weights, choices_});
    gating.dtype = "float32";
    gating.scale = static_cast<float>(experts_.scale);
  }

  // What all tokens go through.
  void share() {
    const std::uint64_t inner = experts_.shared_inner, rows = rows_.count;
    if (inner == 0) return;
    const auto& to = step_.experts;
    list_.multiply("shared", {rows, 2 * inner, model_.hidden}, normed(), weights_.gate_up,
                   to.shared_gate_up);
    list_.add("shared", "swi_glu", {rows, 2 * inner}, {to.shared_gate_up}, {to.shared_inner});
    list_.multiply("shared", {rows, model_.hidden, inner}, to.shared_inner, weights_.down,
                   to.shared_whole);
    if (!experts_.shared_gated) return;
    list_.multiply("shared_gate", {rows, 1, model_.hidden}, normed(), weights_.shared_gate,
                   to.shared_logits);
    list_.add("shared_gate", "elementwise", {rows}, {to.shared_logits}, {to.shared_weights})
        .expression = "sigmoid(a)";
    auto& weighed = list_.add("shared_gate", "broadcast", {rows, model_.hidden},
                              {to.shared_whole, to.shared_weights}, {to.shared});
    weighed.other_shape = {rows, 1};
    weighed.expression = "a * b";
  }

  // Each card has all tokens. Where the rows of each expert end stays on the card: the host does
  // not wait for it. Cards that have the same experts follow one another.
  void choose_rows(unsigned rank) {
    const std::uint64_t first = rank / (model_.ranks / experts_.cards) * experts_.own();
    const std::uint64_t choices = rows_.count * experts_.chosen;
    list_.add("routing", "moe_init_routing",
              {rows_.count, model_.hidden, experts_.chosen, experts_.count, first, experts_.own()},
              {normed(), choices_}, {step_.experts.rows, step_.experts.places, step_.experts.ends});
    compute(choices, choices / experts_.cards);
    list_.add(
        "routing", "moe_finalize_routing", {rows_.count, model_.hidden, experts_.chosen},
        {step_.experts.out, step_.experts.weights, step_.experts.places, step_.experts.shared},
        {step_.out});
  }

  // Tokens go to the cards of their experts and come back, `shape.most_tokens` of each card at
  // once; a card has at most `each`. The card's results: to `out`.
  void exchange(driver::ExpertShape shape, std::uint64_t each, std::uint64_t out) {
    const Bytes row = model_.hidden * list_.element();
    const auto capacity = shape.most_rows(static_cast<unsigned>(experts_.cards));
    for (std::uint64_t at = 0; at < each; at += shape.most_tokens) {
      const std::uint64_t first = std::min(at, rows_.count);
      shape.tokens = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(shape.most_tokens, rows_.count - first));
      const std::uint64_t numbers = first * experts_.chosen * kIndex;
      TokenExchange exchange{shape, {}, {}};
      auto& sent = exchange.sent;
      sent.tokens = {normed() + first * row};
      sent.choices = {choices_ + numbers};
      sent.rows = {step_.experts.rows};
      sent.ends = {step_.experts.ends}, sent.groups = {step_.experts.groups};
      sent.places = {step_.experts.places};
      list_.exchange("dispatch", exchange);
      compute(capacity, shape.tokens * experts_.chosen);
      const std::uint64_t shared = step_.experts.shared;
      exchange.back = driver::CombineTensors{{step_.experts.out},
                                             sent.groups,
                                             sent.places,
                                             {step_.experts.weights + numbers},
                                             {shared == 0 ? 0 : shared + first * row},
                                             {out + first * row}};
      list_.exchange("combine", exchange);
    }
  }

 private:
  static constexpr Bytes kIndex = 4;

  std::uint64_t normed() const {
    return step_.normed + rows_.first * model_.hidden * list_.element();
  }

  // Of at most `most` rows, of which the experts' ends say how many there are; `mean`: of a card's
  // experts as many as of the others.
  void compute(std::uint64_t most, std::uint64_t mean) {
    const auto& to = step_.experts;
    product("expert_gate_up", {2 * experts_.inner, model_.hidden}, to.rows, weights_.expert_gate_up,
            to.gate_up, most, mean);
    list_.add("expert_swi_glu", "swi_glu", {most, 2 * experts_.inner}, {to.gate_up}, {to.inner});
    product("expert_down", {model_.hidden, experts_.inner}, to.inner, weights_.expert_down, to.out,
            most, mean);
  }
  struct Sides {
    std::uint64_t outputs, inputs;
  };
  void product(const char* part, const Sides& sides, std::uint64_t from, std::uint64_t matrices,
               std::uint64_t to, std::uint64_t most, std::uint64_t mean) {
    auto& call =
        list_.add(part, "grouped_matmul", {experts_.own(), most, sides.outputs, sides.inputs},
                  {from, matrices, step_.experts.ends}, {to});
    call.transpose_b = !memory_.fractals;  // layout_of()
    call.format_b = list_.layout();
    call.out_dtype = list_.type();
    list_.count(2 * mean * sides.outputs * sides.inputs);
  }

  const Model& model_;
  const Experts& experts_;
  const ModelMemory& memory_;
  const LayerWeights& weights_;
  const StepMemory& step_;
  const RowRange rows_;
  OperationList& list_;
  const std::uint64_t choices_;
};

}  // namespace

void add_experts(const StepPlace& place, std::uint64_t layer, unsigned rank, OperationList& list) {
  const auto& model = place.model;
  const std::uint64_t rows = place.shape.rows();
  const bool dispatched = model.experts.dispatched, gathered = model.ranks > 1;
  const auto own = dispatched ? rows_of_rank(model, rows, rank) : RowRange{0, rows};
  ExpertsPart part(place, layer, own, list);
  if (own.count != 0) part.route(), part.share();
  if (!dispatched) return part.choose_rows(rank);
  const std::uint64_t each = rows_of_any_rank(model, rows), to = place.step.out;
  const std::uint64_t out = gathered ? place.step.experts.own_out : to;
  part.exchange(exchange_of(model, list.element(), rows), each, out);
  if (!gathered) return;
  list.collect("allgather", driver::CollectiveOperation::kAllGather, out, to).count =
      each * model.hidden;
}

}  // namespace npu::workloads::transformer
