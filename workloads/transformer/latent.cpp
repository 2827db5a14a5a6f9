// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/operation_list.hpp"

namespace npu::workloads::transformer {
namespace {

class LatentAttention {
 public:
  LatentAttention(const StepPlace& place, std::uint64_t layer, OperationList& list)
      : model_(place.model),
        shape_(place.shape),
        memory_(place.memory),
        step_(place.step),
        layer_(layer),
        list_(list) {}

  void add() {
    rows();
    queries();
    attention();
    values();
  }

 private:
  const LayerWeights& weights() const { return memory_.layers[layer_]; }
  void norm(std::uint64_t columns, std::uint64_t from, std::uint64_t gamma, std::uint64_t to) {
    list_.norm("qk_norm", shape_.rows(), columns, from, gamma, to).epsilon =
        static_cast<float>(model_.epsilon);
  }
  void turn(std::uint64_t heads, std::uint64_t from, std::uint64_t to) {
    list_.add("rope", "rope_interleaved", {shape_.rows(), heads, model_.latent.rope},
              {from, step_.cos, step_.sin}, {to});
  }
  // Of each head: rows x inputs become rows x outputs. Heads first.
  void by_head(const char* part, std::uint64_t outputs, std::uint64_t inputs, std::uint64_t from,
               std::uint64_t matrices, std::uint64_t to, bool transposed) {
    const std::uint64_t rows = shape_.rows();
    auto& call = list_.add(part, "batched_matmul", {model_.heads, rows, outputs, inputs},
                           {from, matrices}, {to});
    call.transpose_b = transposed;
    call.out_dtype = list_.type();
    list_.count(2 * model_.heads * rows * outputs * inputs);
  }

  // What queries are made of, and the row of the cache.
  void rows() {
    const auto& latent = model_.latent;
    auto& at = step_.latent;
    const std::uint64_t rows = shape_.rows(), all = latent.q + latent.row();
    list_.multiply("qkv", {rows, all, model_.hidden}, step_.normed, weights().q_kv, at.q_kv);
    if (latent.q != 0) list_.slice("split", rows, {all, 0, latent.q}, at.q_kv, at.q_rows);
    list_.slice("split", rows, {all, latent.q, latent.kv}, at.q_kv, at.kv);
    list_.slice("split", rows, {all, latent.q + latent.kv, latent.rope}, at.q_kv, at.rope);
    if (latent.q != 0) norm(latent.q, at.q_rows, weights().q_norm, at.q_normed);
    norm(latent.kv, at.kv, weights().k_norm, at.kv_normed);
    turn(1, at.rope, at.rope_turned);
    list_.add("cache", "concat", {rows, 1, latent.kv, latent.rope}, {at.kv_normed, at.rope_turned},
              {at.row});
    const auto& cache = memory_.caches[layer_];
    const std::uint64_t slots = shape_.batch * memory_.pages_of_sequence * kPage;
    list_.add("cache", "kv_cache_write", {rows, latent.row(), slots},
              {cache.keys, step_.slots, at.row}, {cache.keys});
  }
  // The matrix that makes keys is multiplied with the query instead, so that the cache's rows are
  // keys as they are.
  void queries() {
    const auto& latent = model_.latent;
    auto& at = step_.latent;
    const std::uint64_t rows = shape_.rows(), heads = model_.heads, of_heads = rows * heads;
    list_.multiply("q", {rows, heads * latent.query(), model_.query_inputs()},
                   latent.q != 0 ? at.q_normed : step_.normed, weights().q_rows, at.q);
    list_.slice("split", of_heads, {latent.query(), 0, latent.nope}, at.q, at.q_nope);
    list_.slice("split", of_heads, {latent.query(), latent.nope, latent.rope}, at.q, at.q_rope);
    turn(heads, at.q_rope, at.q_rope_turned);
    list_.exchange("absorb", {rows, heads, latent.nope}, at.q_nope, at.q_nope_heads);
    by_head("absorb", latent.kv, latent.nope, at.q_nope_heads, weights().keys, at.q_latent_heads,
            false);
    list_.exchange("absorb", {heads, rows, latent.kv}, at.q_latent_heads, at.q_latent);
    list_.add("absorb", "concat", {of_heads, 1, latent.kv, latent.rope},
              {at.q_latent, at.q_rope_turned}, {at.query});
  }
  // The operator has one size of heads: it also gives the turned elements as if they were values.
  void attention() {
    const auto& latent = model_.latent;
    const auto& cache = memory_.caches[layer_];
    auto& at = step_.latent;
    auto& call =
        list_.add("attention", "flash_attention",
                  {shape_.batch, model_.heads, 1, shape_.tokens, shape_.keys(), latent.row()},
                  {at.query, cache.keys, cache.values, step_.pages}, {at.mixed});
    call.causal = call.heads_inside = true;
    call.page = static_cast<std::uint32_t>(kPage);
    call.pages = static_cast<std::uint32_t>(memory_.pages_of_sequence);
    call.scale = static_cast<float>(model_.score_scale());
    list_.count(2 * shape_.batch * model_.heads * shape_.scores() * (latent.row() + latent.kv));
  }
  void values() {
    const auto& latent = model_.latent;
    auto& at = step_.latent;
    const std::uint64_t rows = shape_.rows(), heads = model_.heads;
    list_.slice("values", rows * heads, {latent.row(), 0, latent.kv}, at.mixed, at.mixed_kv);
    list_.exchange("values", {rows, heads, latent.kv}, at.mixed_kv, at.mixed_heads);
    by_head("values", latent.value, latent.kv, at.mixed_heads, weights().values, at.values_heads,
            true);
    list_.exchange("values", {heads, rows, latent.value}, at.values_heads, step_.mixed);
  }

  const Model& model_;
  const StepShape& shape_;
  const ModelMemory& memory_;
  StepMemory& step_;
  const std::uint64_t layer_;
  OperationList& list_;
};

}  // namespace

void add_latent_attention(const StepPlace& place, std::uint64_t layer, OperationList& list) {
  LatentAttention(place, layer, list).add();
}

}  // namespace npu::workloads::transformer
