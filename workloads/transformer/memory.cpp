// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/memory.hpp"

#include <algorithm>

#include "npu/abi/expert_exchange.hpp"
#include "npu/base/checked.hpp"
#include "workloads/transformer/division.hpp"

namespace npu::workloads::transformer {
namespace {

// Keeps the first error.
class Places {
 public:
  explicit Places(const Allocate& allocate) : allocate_(allocate) {}

  std::uint64_t take(Bytes bytes) {
    if (!status_) return 0;
    const auto memory = allocate_(std::max<Bytes>(bytes, 1));
    if (memory) bytes_ += bytes;
    if (!memory) status_ = forward_error(memory);
    return memory.value_or(0);
  }
  const Status& status() const { return status_; }
  Bytes bytes() const { return bytes_; }

 private:
  const Allocate& allocate_;
  Status status_;
  Bytes bytes_ = 0;
};

constexpr Bytes kIndex = 4;  // bytes of an index, and of a number in fp32

void take_experts(const Model& model, Bytes element, std::uint64_t rows, Places& places,
                  ExpertsMemory& memory) {
  const auto& experts = model.experts;
  const auto shape = exchange_of(model, element, rows);
  const std::uint64_t choices = experts.dispatched
                                    ? shape.most_rows(static_cast<unsigned>(experts.cards))
                                    : rows * experts.chosen;
  memory.logits = places.take(rows * experts.count * kIndex);
  memory.weights = places.take(rows * experts.chosen * kIndex);
  memory.places =
      places.take(std::max<std::uint64_t>(rows * experts.chosen,
                                          std::uint64_t{shape.most_tokens} * shape.place_pitch()) *
                  kIndex);
  memory.ends = places.take(experts.own() * sizeof(std::int64_t));
  if (experts.dispatched) {
    memory.groups = places.take(experts.count * sizeof(abi::ExpertGroup));
    memory.own_out = places.take(rows_of_any_rank(model, rows) * model.hidden * element);
  }
  for (auto* at : {&memory.rows, &memory.out}) *at = places.take(choices * model.hidden * element);
  memory.gate_up = places.take(choices * 2 * experts.inner * element);
  memory.inner = places.take(choices * experts.inner * element);
  if (experts.shared_inner == 0) return;
  memory.shared_gate_up = places.take(rows * 2 * experts.shared_inner * element);
  memory.shared_inner = places.take(rows * experts.shared_inner * element);
  memory.shared = memory.shared_whole = places.take(rows * model.hidden * element);
  if (!experts.shared_gated) return;
  memory.shared_logits = places.take(rows * element);
  memory.shared_weights = places.take(rows * element);
  memory.shared = places.take(rows * model.hidden * element);
}

void take_attention(const Model& model, Bytes element, std::uint64_t rows, Places& places,
                    StepMemory& memory) {
  memory.qkv = places.take(rows * model.qkv_width() * element);
  for (auto* at : {&memory.q, &memory.q_turned, &memory.mixed}) {
    *at = places.take(rows * model.q_width() * element);
  }
  for (auto* at : {&memory.k, &memory.k_turned, &memory.v}) {
    *at = places.take(rows * model.kv_width() * element);
  }
}

void take_latent(const Model& model, Bytes element, std::uint64_t rows, Places& places,
                 StepMemory& step) {
  const auto& latent = model.latent;
  auto& memory = step.latent;
  const auto take = [&](std::uint64_t columns) { return places.take(rows * columns * element); };
  memory.q_kv = take(latent.q + latent.row());
  for (auto* at : {&memory.q_rows, &memory.q_normed}) *at = take(latent.q);
  for (auto* at : {&memory.kv, &memory.kv_normed}) *at = take(latent.kv);
  for (auto* at : {&memory.rope, &memory.rope_turned}) *at = take(latent.rope);
  memory.row = take(latent.row());
  memory.q = take(model.heads * latent.query());
  for (auto* at : {&memory.q_nope, &memory.q_nope_heads}) *at = take(model.heads * latent.nope);
  for (auto* at : {&memory.q_rope, &memory.q_rope_turned}) *at = take(model.heads * latent.rope);
  for (auto* at :
       {&memory.q_latent_heads, &memory.q_latent, &memory.mixed_kv, &memory.mixed_heads}) {
    *at = take(model.heads * latent.kv);
  }
  for (auto* at : {&memory.query, &memory.mixed}) *at = take(model.heads * latent.row());
  for (auto* at : {&memory.values_heads, &step.mixed}) *at = take(model.mixed_width());
}

}  // namespace

Result<ModelMemory> allocate_model(const Model& model, DataType type, const ModelRoom& room,
                                   const Allocate& allocate) {
  const Bytes element = platform::bytes_of(type);
  ModelMemory memory;
  Places places(allocate);
  memory.fractals = room.fractals;
  memory.positions = room.positions;
  memory.pages_of_sequence = (room.positions + kPage - 1) / kPage;
  memory.embedding = places.take(model.vocabulary * model.hidden * element);
  const Bytes head = model.head_rows() * model.hidden * element;
  memory.head = model.tied ? memory.embedding + room.rank * head : places.take(head);
  memory.norm = places.take(model.hidden * element);
  for (std::uint64_t i = 0; i < room.layers; ++i) {
    LayerWeights layer;
    for (const auto& weight : weights_of_layer(model, i)) {
      const auto of_card = weight.type(type);
      layer.*weight.address = places.take(stored_elements(weight, of_card, room.fractals) *
                                          platform::bytes_of(of_card));
    }
    memory.layers.push_back(layer);
  }
  memory.weight_bytes = places.bytes();
  memory.cos = places.take(room.positions * model.turned() * element);
  memory.sin = places.take(room.positions * model.turned() * element);
  const Bytes before = places.bytes();
  const Bytes cache = room.batch * memory.pages_of_sequence * kPage * model.cache_width() * element;
  for (std::uint64_t i = 0; i < room.layers; ++i) {
    const std::uint64_t keys = places.take(cache);
    memory.caches.push_back({keys, model.has_latent() ? keys : places.take(cache)});
  }
  memory.cache_bytes = places.bytes() - before;
  for (std::uint64_t i = 0; i < room.layers; ++i) {
    const bool routed = model.has_experts(i);
    memory.choices.push_back(routed ? places.take(room.rows * model.experts.chosen * kIndex) : 0);
  }
  if (!places.status()) return forward_error(places.status());
  return memory;
}

Result<StepMemory> allocate_step(const Model& model, DataType type, const StepShape& largest,
                                 std::uint64_t pages, const Allocate& allocate) {
  const Bytes element = platform::bytes_of(type);
  const std::uint64_t rows = largest.rows();
  Places places(allocate);
  StepMemory memory;
  for (auto* at : {&memory.tokens, &memory.positions, &memory.slots}) {
    *at = places.take(rows * kIndex);
  }
  memory.pages = places.take(pages * kIndex);
  memory.last = places.take(largest.batch * kIndex);
  memory.chosen = places.take(largest.batch * kIndex);
  // What is gathered of the cards' rows has as many of each.
  const std::uint64_t gathered = rows_of_any_rank(model, rows) * model.ranks;
  for (auto* at : {&memory.x, &memory.normed, &memory.sum, &memory.next_sum, &memory.out}) {
    *at = places.take(gathered * model.hidden * element);
  }
  const auto take = model.has_latent() ? take_latent : take_attention;
  take(model, element, rows, places, memory);
  memory.gate_up = places.take(rows * 2 * model.inner * element);
  memory.inner = places.take(rows * model.inner * element);
  for (auto* at : {&memory.cos, &memory.sin}) *at = places.take(rows * model.turned() * element);
  if (model.experts.count != 0) take_experts(model, element, rows, places, memory.experts);
  memory.last_rows = places.take(largest.batch * model.hidden * element);
  memory.logits = places.take(largest.batch * model.vocabulary * element);
  memory.own_logits = memory.all_logits = memory.logits;
  if (model.ranks > 1) {
    memory.own_logits = places.take(largest.batch * model.head_rows() * element);
    // Of one sequence they are in order as they come.
    if (largest.batch > 1) {
      memory.all_logits = places.take(largest.batch * model.vocabulary * element);
    }
  }
  if (!places.status()) return forward_error(places.status());
  return memory;
}

}  // namespace npu::workloads::transformer
