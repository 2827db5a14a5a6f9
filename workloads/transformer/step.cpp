// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/step.hpp"

#include <algorithm>

#include "workloads/transformer/operation_list.hpp"

namespace npu::workloads::transformer {
namespace {

class Plan {
 public:
  Plan(const Model& model, unsigned rank, DataType type, const StepShape& shape,
       const ModelMemory& memory, const StepMemory& step)
      : model_(model),
        rank_(rank),
        shape_(shape),
        memory_(memory),
        step_(step),
        list_(type, memory.fractals) {}

  std::vector<Operation> all() {
    begin();
    for (layer_ = 0; layer_ < memory_.layers.size(); ++layer_) {
      list_.begin_layer(layer_);
      layer();
    }
    list_.begin_layer(kNoLayer);
    end();
    return list_.take();
  }

 private:
  void add_norm(std::uint64_t gamma) {
    auto& call = list_.add("norm", "add_rms_norm", {shape_.rows(), model_.hidden},
                           {step_.out, step_.sum, gamma}, {step_.normed, step_.next_sum});
    call.epsilon = static_cast<float>(model_.epsilon);
    std::swap(step_.sum, step_.next_sum);
  }

  void begin() {
    const std::uint64_t rows = shape_.rows();
    list_.gather("embedding", {rows, model_.hidden, model_.vocabulary}, memory_.embedding,
                 step_.tokens, step_.sum);
    const std::uint64_t turned = model_.turned();
    list_.gather("rope", {rows, turned, memory_.positions}, memory_.cos, step_.positions,
                 step_.cos);
    list_.gather("rope", {rows, turned, memory_.positions}, memory_.sin, step_.positions,
                 step_.sin);
    if (memory_.layers.empty()) return;
    list_.norm("norm", rows, model_.hidden, step_.sum, memory_.layers.front().norm, step_.normed)
        .epsilon = static_cast<float>(model_.epsilon);
  }

  void layer() {
    const auto& weights = memory_.layers[layer_];
    const StepPlace place{model_, shape_, memory_, step_};
    if (model_.has_latent()) {
      add_latent_attention(place, layer_, list_);
    } else {
      heads();
    }
    multiply_and_sum("out", model_.mixed_width(), step_.mixed, weights.out);
    add_norm(weights.mid_norm);
    if (model_.has_experts(layer_)) {
      add_experts(place, layer_, rank_, list_);
      if (model_.ranks > 1 && !model_.experts.dispatched) sum_of_all(step_.out, shape_.rows());
    } else {
      feed_forward();
    }
    const bool last = layer_ + 1 == memory_.layers.size();
    add_norm(last ? memory_.norm : memory_.layers[layer_ + 1].norm);
  }
  void heads() {
    const auto& weights = memory_.layers[layer_];
    auto& qkv = list_.multiply("qkv", {shape_.rows(), model_.qkv_width(), model_.hidden},
                               step_.normed, weights.qkv, step_.qkv);
    if (weights.qkv_bias != 0) {
      qkv.bias_dtype = "float32";
      qkv.inputs[2] = weights.qkv_bias;
    }
    split(0, model_.q_width(), step_.q);
    split(model_.q_width(), model_.kv_width(), step_.k);
    split(model_.q_width() + model_.kv_width(), model_.kv_width(), step_.v);
    const std::uint64_t q = turned(model_.heads, weights.q_norm, step_.q, step_.q_turned);
    const std::uint64_t k = turned(model_.kv_heads, weights.k_norm, step_.k, step_.k_turned);
    attention(q, k);
  }
  void feed_forward() {
    const auto& weights = memory_.layers[layer_];
    const std::uint64_t rows = shape_.rows();
    list_.multiply("gate_up", {rows, 2 * model_.inner, model_.hidden}, step_.normed,
                   weights.gate_up, step_.gate_up);
    list_.add("swi_glu", "swi_glu", {rows, 2 * model_.inner}, {step_.gate_up}, {step_.inner});
    multiply_and_sum("down", model_.inner, step_.inner, weights.down);
  }
  // A product of which a card has one of the terms: all of them get the sum.
  void multiply_and_sum(const char* part, std::uint64_t inputs, std::uint64_t from,
                        std::uint64_t weights) {
    const std::uint64_t rows = shape_.rows(), hidden = model_.hidden;
    const std::uint64_t pieces = model_.ranks == 1 ? 1 : std::min(shape_.pieces, rows);
    for (std::uint64_t i = 0; i < pieces; ++i) {
      const std::uint64_t first = rows * i / pieces, count = rows * (i + 1) / pieces - first;
      const std::uint64_t to = step_.out + first * hidden * list_.element();
      list_.multiply(part, {count, hidden, inputs}, from + first * inputs * list_.element(),
                     weights, to);
      if (model_.ranks == 1) continue;
      auto& sum = sum_of_all(to, count);
      sum.beside = pieces > 1;
      sum.last = i + 1 == pieces;
    }
  }
  Collective& sum_of_all(std::uint64_t at, std::uint64_t rows) {
    auto& sum = list_.collect("allreduce", driver::CollectiveOperation::kAllReduce, at, at);
    sum.count = rows * model_.hidden;
    return sum;
  }
  void split(std::uint64_t first, std::uint64_t columns, std::uint64_t to) {
    list_.slice("split", shape_.rows(), {model_.qkv_width(), first, columns}, step_.qkv, to);
  }
  // Heads normed, if the model does that, and turned by their positions; where they are then.
  std::uint64_t turned(std::uint64_t heads, std::uint64_t gamma, std::uint64_t from,
                       std::uint64_t to) {
    const std::uint64_t rows = shape_.rows();
    std::uint64_t x = from, y = to;
    if (gamma != 0) {
      list_.norm("qk_norm", rows * heads, model_.head, x, gamma, y).epsilon =
          static_cast<float>(model_.epsilon);
      std::swap(x, y);
    }
    list_.add("rope", "rope_half", {rows, heads, model_.head}, {x, step_.cos, step_.sin}, {y});
    return y;
  }
  void attention(std::uint64_t q, std::uint64_t k) {
    const auto& cache = memory_.caches[layer_];
    const std::uint64_t pages = memory_.pages_of_sequence;
    const std::uint64_t slots = shape_.batch * pages * kPage;
    const OperationList::Shape shape{shape_.rows(), model_.kv_width(), slots};
    list_.add("cache", "kv_cache_write", shape, {cache.keys, step_.slots, k}, {cache.keys});
    list_.add("cache", "kv_cache_write", shape, {cache.values, step_.slots, step_.v},
              {cache.values});
    auto& call = list_.add(
        "attention", "flash_attention",
        {shape_.batch, model_.heads, model_.kv_heads, shape_.tokens, shape_.keys(), model_.head},
        {q, cache.keys, cache.values, step_.pages}, {step_.mixed});
    call.causal = call.heads_inside = true;
    call.page = static_cast<std::uint32_t>(kPage);
    call.pages = static_cast<std::uint32_t>(pages);
    call.scale = static_cast<float>(model_.score_scale());
    list_.count(4 * shape_.batch * model_.heads * shape_.scores() * model_.head);
  }
  void end() {
    const std::uint64_t batch = shape_.batch;
    list_.gather("head", {batch, model_.hidden, shape_.rows()}, step_.normed, step_.last,
                 step_.last_rows);
    list_
        .multiply("head", {batch, model_.head_rows(), model_.hidden}, step_.last_rows, memory_.head,
                  step_.own_logits)
        .format_b = "ND";
    gather_logits();
    list_.add("sample", "argmax", {batch, model_.vocabulary}, {step_.logits}, {step_.chosen});
  }

  // Those of all cards, in the order of the vocabulary.
  void gather_logits() {
    if (model_.ranks == 1) return;
    auto& all = list_.collect("allgather", driver::CollectiveOperation::kAllGather,
                              step_.own_logits, step_.all_logits);
    all.count = shape_.batch * model_.head_rows();
    if (shape_.batch == 1) return;
    list_.exchange("allgather", {model_.ranks, shape_.batch, model_.head_rows()}, step_.all_logits,
                   step_.logits);
  }

  const Model& model_;
  const unsigned rank_;
  const StepShape shape_;
  const ModelMemory& memory_;
  StepMemory step_;
  OperationList list_;
  std::uint64_t layer_ = kNoLayer;
};

}  // namespace

std::vector<Operation> operations_of(const Model& model, unsigned rank, DataType type,
                                     const StepShape& shape, const ModelMemory& memory,
                                     const StepMemory& step) {
  return Plan(model, rank, type, shape, memory, step).all();
}

}  // namespace npu::workloads::transformer
