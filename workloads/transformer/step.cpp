// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/step.hpp"

#include <algorithm>
#include <cmath>

namespace npu::workloads::transformer {
namespace {

class Plan {
 public:
  Plan(const Model& model, DataType type, const StepShape& shape, const ModelMemory& memory,
       const StepMemory& step)
      : model_(model),
        type_(operators::type_name(type)),
        element_(platform::bytes_of(type)),
        shape_(shape),
        memory_(memory),
        step_(step) {}

  std::vector<Operation> all() {
    begin();
    for (layer_ = 0; layer_ < memory_.layers.size(); ++layer_) layer();
    layer_ = kNoLayer;
    end();
    return std::move(operations_);
  }

 private:
  using Shape = std::vector<std::uint64_t>;

  operators::OperatorCall& add(const char* part, const char* name, Shape shape,
                               std::vector<std::uint64_t> inputs,
                               std::vector<std::uint64_t> results) {
    auto& operation = operations_.emplace_back();
    operation.part = part;
    operation.layer = layer_;
    auto& call = operation.call;
    call.name = name;
    call.shape = std::move(shape);
    call.dtype = type_;
    std::copy(inputs.begin(), inputs.end(), call.inputs.begin());
    std::copy(results.begin(), results.end(), call.results.begin());
    return call;
  }
  // to = from x weights, whose rows are outputs.
  operators::OperatorCall& multiply(const char* part, std::uint64_t rows, std::uint64_t outputs,
                                    std::uint64_t inputs, std::uint64_t from, std::uint64_t weights,
                                    std::uint64_t to) {
    auto& call = add(part, "basic_matmul", {rows, outputs, inputs}, {from, weights}, {to});
    call.transpose_b = true;
    call.out_dtype = type_;
    operations_.back().operations = 2 * rows * outputs * inputs;
    return call;
  }
  void gather(const char* part, std::uint64_t rows, std::uint64_t columns, std::uint64_t table_rows,
              std::uint64_t table, std::uint64_t indices, std::uint64_t to) {
    add(part, "gather", {rows, columns, table_rows}, {table, indices}, {to});
  }
  void add_norm(std::uint64_t gamma) {
    auto& call = add("norm", "add_rms_norm", {shape_.rows(), model_.hidden},
                     {step_.out, step_.sum, gamma}, {step_.normed, step_.next_sum});
    call.epsilon = static_cast<float>(model_.epsilon);
    std::swap(step_.sum, step_.next_sum);
  }

  void begin() {
    const std::uint64_t rows = shape_.rows();
    gather("embedding", rows, model_.hidden, model_.vocabulary, memory_.embedding, step_.tokens,
           step_.sum);
    gather("rope", rows, model_.head, memory_.positions, memory_.cos, step_.positions, step_.cos);
    gather("rope", rows, model_.head, memory_.positions, memory_.sin, step_.positions, step_.sin);
    if (memory_.layers.empty()) return;
    auto& call = add("norm", "rms_norm", {rows, model_.hidden},
                     {step_.sum, memory_.layers.front().norm}, {step_.normed});
    call.epsilon = static_cast<float>(model_.epsilon);
  }

  void layer() {
    const auto& weights = memory_.layers[layer_];
    const std::uint64_t rows = shape_.rows(), hidden = model_.hidden;
    auto& qkv =
        multiply("qkv", rows, model_.qkv_width(), hidden, step_.normed, weights.qkv, step_.qkv);
    if (weights.qkv_bias != 0) {
      qkv.bias_dtype = "float32";
      qkv.inputs[2] = weights.qkv_bias;
    }
    slice(0, model_.q_width(), step_.q);
    slice(model_.q_width(), model_.kv_width(), step_.k);
    slice(model_.q_width() + model_.kv_width(), model_.kv_width(), step_.v);
    const std::uint64_t q = turned(model_.heads, weights.q_norm, step_.q, step_.q_turned);
    const std::uint64_t k = turned(model_.kv_heads, weights.k_norm, step_.k, step_.k_turned);
    attention(q, k);
    multiply_and_sum("out", model_.q_width(), step_.mixed, weights.out);
    add_norm(weights.mid_norm);
    multiply("gate_up", rows, 2 * model_.inner, hidden, step_.normed, weights.gate_up,
             step_.gate_up);
    add("swi_glu", "swi_glu", {rows, 2 * model_.inner}, {step_.gate_up}, {step_.inner});
    multiply_and_sum("down", model_.inner, step_.inner, weights.down);
    const bool last = layer_ + 1 == memory_.layers.size();
    add_norm(last ? memory_.norm : memory_.layers[layer_ + 1].norm);
  }
  // A product of which a card has one of the terms: all of them get the sum.
  void multiply_and_sum(const char* part, std::uint64_t inputs, std::uint64_t from,
                        std::uint64_t weights) {
    const std::uint64_t rows = shape_.rows(), hidden = model_.hidden;
    const std::uint64_t pieces = model_.ranks == 1 ? 1 : std::min(shape_.pieces, rows);
    for (std::uint64_t i = 0; i < pieces; ++i) {
      const std::uint64_t first = rows * i / pieces, count = rows * (i + 1) / pieces - first;
      const std::uint64_t to = step_.out + first * hidden * element_;
      multiply(part, count, hidden, inputs, from + first * inputs * element_, weights, to);
      if (model_.ranks == 1) continue;
      auto& sum = collect("allreduce", driver::CollectiveOperation::kAllReduce, to, to);
      sum.count = count * hidden;
      sum.beside = pieces > 1;
      sum.last = i + 1 == pieces;
    }
  }
  Collective& collect(const char* part, driver::CollectiveOperation operation, std::uint64_t from,
                      std::uint64_t to) {
    auto& added = operations_.emplace_back();
    added.part = part;
    added.layer = layer_;
    return added.collective.emplace(Collective{operation, from, to});
  }
  void slice(std::uint64_t first, std::uint64_t columns, std::uint64_t to) {
    add("split", "slice", {shape_.rows(), model_.qkv_width(), 1, first, columns, 1}, {step_.qkv},
        {to});
  }
  // Heads normed, if the model does that, and turned by their positions; where they are then.
  std::uint64_t turned(std::uint64_t heads, std::uint64_t gamma, std::uint64_t from,
                       std::uint64_t to) {
    const std::uint64_t rows = shape_.rows();
    std::uint64_t x = from, y = to;
    if (gamma != 0) {
      auto& call = add("qk_norm", "rms_norm", {rows * heads, model_.head}, {x, gamma}, {y});
      call.epsilon = static_cast<float>(model_.epsilon);
      std::swap(x, y);
    }
    add("rope", "rope_half", {rows, heads, model_.head}, {x, step_.cos, step_.sin}, {y});
    return y;
  }
  void attention(std::uint64_t q, std::uint64_t k) {
    const auto& cache = memory_.caches[layer_];
    const std::uint64_t pages = memory_.pages_of_sequence;
    const std::uint64_t slots = shape_.batch * pages * kPage;
    const Shape shape{shape_.rows(), model_.kv_width(), slots};
    add("cache", "kv_cache_write", shape, {cache.keys, step_.slots, k}, {cache.keys});
    add("cache", "kv_cache_write", shape, {cache.values, step_.slots, step_.v}, {cache.values});
    auto& call = add(
        "attention", "flash_attention",
        {shape_.batch, model_.heads, model_.kv_heads, shape_.tokens, shape_.keys(), model_.head},
        {q, cache.keys, cache.values, step_.pages}, {step_.mixed});
    call.causal = call.heads_inside = true;
    call.page = static_cast<std::uint32_t>(kPage);
    call.pages = static_cast<std::uint32_t>(pages);
    call.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(model_.head)));
    // Query i sees cached + i + 1 keys.
    const std::uint64_t scores =
        shape_.tokens * shape_.cached + shape_.tokens * (shape_.tokens + 1) / 2;
    operations_.back().operations = 4 * shape_.batch * model_.heads * scores * model_.head;
  }
  void end() {
    const std::uint64_t batch = shape_.batch;
    gather("head", batch, model_.hidden, shape_.rows(), step_.normed, step_.last, step_.last_rows);
    multiply("head", batch, model_.head_rows(), model_.hidden, step_.last_rows, memory_.head,
             step_.own_logits);
    gather_logits();
    add("sample", "argmax", {batch, model_.vocabulary}, {step_.logits}, {step_.chosen});
  }

  // Those of all cards, in the order of the vocabulary.
  void gather_logits() {
    if (model_.ranks == 1) return;
    auto& all = collect("allgather", driver::CollectiveOperation::kAllGather, step_.own_logits,
                        step_.all_logits);
    all.count = shape_.batch * model_.head_rows();
    if (shape_.batch == 1) return;
    auto& call = add("allgather", "transpose", {model_.ranks, shape_.batch, model_.head_rows()},
                     {step_.all_logits}, {step_.logits});
    call.order = {1, 0, 2};
  }

  const Model& model_;
  const std::string type_;
  const Bytes element_;
  const StepShape shape_;
  const ModelMemory& memory_;
  StepMemory step_;
  std::uint64_t layer_ = kNoLayer;
  std::vector<Operation> operations_;
};

}  // namespace

std::vector<Operation> operations_of(const Model& model, DataType type, const StepShape& shape,
                                     const ModelMemory& memory, const StepMemory& step) {
  return Plan(model, type, shape, memory, step).all();
}

}  // namespace npu::workloads::transformer
