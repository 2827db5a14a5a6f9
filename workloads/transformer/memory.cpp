// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/memory.hpp"

#include <algorithm>

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

constexpr Bytes kIndex = 4;  // bytes of an index, and of a bias in fp32

}  // namespace

Result<ModelMemory> allocate_model(const Model& model, DataType type, std::uint64_t layers,
                                   std::uint64_t batch, std::uint64_t positions,
                                   const Allocate& allocate) {
  const Bytes element = platform::bytes_of(type);
  ModelMemory memory;
  Places places(allocate);
  memory.positions = positions;
  memory.pages_of_sequence = (positions + kPage - 1) / kPage;
  memory.embedding = places.take(model.vocabulary * model.hidden * element);
  memory.head = places.take(model.head_rows() * model.hidden * element);
  memory.norm = places.take(model.hidden * element);
  for (std::uint64_t i = 0; i < layers; ++i) {
    LayerWeights layer;
    layer.norm = places.take(model.hidden * element);
    layer.mid_norm = places.take(model.hidden * element);
    layer.qkv = places.take(model.qkv_width() * model.hidden * element);
    if (model.qkv_bias) layer.qkv_bias = places.take(model.qkv_width() * kIndex);
    if (model.qk_norm) {
      layer.q_norm = places.take(model.head * element);
      layer.k_norm = places.take(model.head * element);
    }
    layer.out = places.take(model.hidden * model.q_width() * element);
    layer.gate_up = places.take(2 * model.inner * model.hidden * element);
    layer.down = places.take(model.hidden * model.inner * element);
    memory.layers.push_back(layer);
  }
  memory.weight_bytes = places.bytes();
  memory.cos = places.take(positions * model.head * element);
  memory.sin = places.take(positions * model.head * element);
  const Bytes before = places.bytes();
  const Bytes cache = batch * memory.pages_of_sequence * kPage * model.kv_width() * element;
  for (std::uint64_t i = 0; i < layers; ++i) {
    const std::uint64_t keys = places.take(cache);
    memory.caches.push_back({keys, places.take(cache)});
  }
  memory.cache_bytes = places.bytes() - before;
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
  for (auto* at : {&memory.x, &memory.normed, &memory.sum, &memory.next_sum, &memory.out}) {
    *at = places.take(rows * model.hidden * element);
  }
  memory.qkv = places.take(rows * model.qkv_width() * element);
  for (auto* at : {&memory.q, &memory.q_turned, &memory.mixed}) {
    *at = places.take(rows * model.q_width() * element);
  }
  for (auto* at : {&memory.k, &memory.k_turned, &memory.v}) {
    *at = places.take(rows * model.kv_width() * element);
  }
  memory.gate_up = places.take(rows * 2 * model.inner * element);
  memory.inner = places.take(rows * model.inner * element);
  for (auto* at : {&memory.cos, &memory.sin}) *at = places.take(rows * model.head * element);
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
