// SPDX-License-Identifier: Apache-2.0
// Where a model, its caches and the tensors of a step are in device memory.
#pragma once

#include <functional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "workloads/transformer/weights.hpp"

namespace npu::workloads::transformer {

inline constexpr std::uint64_t kPage = 128;  // tokens of a page of a cache

// What is computed at once: `tokens` new ones of each sequence, behind `cached` ones.
struct StepShape {
  std::uint64_t batch = 1, tokens = 1, cached = 0;
  // Of the rows of products that all cards sum: the sum of a piece is made while the next one is
  // computed.
  std::uint64_t pieces = 1;
  std::uint64_t rows() const { return batch * tokens; }
  std::uint64_t keys() const { return cached + tokens; }
  // Pairs of a query and a key of a sequence: query i sees cached + i + 1 keys.
  std::uint64_t scores() const { return tokens * cached + tokens * (tokens + 1) / 2; }
};

// Rows of kv_heads x head, kPage of them a page. Those of a latent cache are keys and values.
struct LayerCache {
  std::uint64_t keys = 0, values = 0;
};
// Of a layer with experts: which ones each row has chosen. Of each layer by itself: a run without
// arithmetic has those that the host has written, one that is compared reads them.
using LayerChoices = std::vector<std::uint64_t>;  // by layer; 0: it is dense

struct ModelMemory {
  // Matrices of linear layers lie in fractals; those of the head, and of batched products, do not.
  bool fractals = false;
  std::uint64_t embedding = 0, head = 0, norm = 0;  // head: this card's rows
  std::uint64_t cos = 0, sin = 0;                   // a row for each position
  std::vector<LayerWeights> layers;
  std::vector<LayerCache> caches;
  LayerChoices choices;
  Bytes weight_bytes = 0, cache_bytes = 0;
  std::uint64_t positions = 0;  // that a sequence has room for
  std::uint64_t pages_of_sequence = 0;

  // Where page `index` of a sequence is in the caches: the last one first, as pages that were freed
  // and taken again lie in no order.
  std::uint64_t page_of(std::uint64_t batch, std::uint64_t sequence, std::uint64_t index) const {
    return batch * pages_of_sequence - 1 - (sequence * pages_of_sequence + index);
  }
};

// Of layers with experts. Rows in the order of experts are as many as all choices, or as may come
// to a card in one exchange.
struct ExpertsMemory {
  std::uint64_t logits = 0, weights = 0, places = 0, ends = 0;
  std::uint64_t rows = 0, gate_up = 0, inner = 0, out = 0;
  std::uint64_t shared_gate_up = 0, shared_inner = 0, shared = 0;
  std::uint64_t groups = 0, own_out = 0;  // of tokens that are dispatched
  // With a gate: its logits, what they weigh, and the part before it is weighed.
  std::uint64_t shared_logits = 0, shared_weights = 0, shared_whole = 0;
};
// Of attention over a latent cache. `heads`: heads first, else rows first.
struct LatentMemory {
  std::uint64_t q_kv = 0, q_rows = 0, q_normed = 0, kv = 0, kv_normed = 0;
  std::uint64_t rope = 0, rope_turned = 0, row = 0;
  std::uint64_t q = 0, q_nope = 0, q_rope = 0, q_rope_turned = 0, q_nope_heads = 0;
  std::uint64_t q_latent_heads = 0, q_latent = 0, query = 0;
  std::uint64_t mixed = 0, mixed_kv = 0, mixed_heads = 0, values_heads = 0;
};

// What every step writes anew.
struct StepMemory {
  std::uint64_t tokens = 0, positions = 0, slots = 0, pages = 0, last = 0;  // indices, by the host
  std::uint64_t x = 0, normed = 0, sum = 0, next_sum = 0, qkv = 0, q = 0, k = 0, v = 0;
  std::uint64_t q_turned = 0, k_turned = 0, mixed = 0, out = 0, gate_up = 0, inner = 0;
  std::uint64_t cos = 0, sin = 0, last_rows = 0, logits = 0, chosen = 0;
  ExpertsMemory experts = {};
  LatentMemory latent = {};
  // Of a model that is divided: a card's logits, and those of all cards, one card's behind the
  // other's.
  std::uint64_t own_logits = 0, all_logits = 0;
};

using Allocate = std::function<Result<std::uint64_t>(Bytes)>;

// What a card has room for: `layers` layers, sequences of at most `positions` tokens, steps of at
// most `rows` rows.
struct ModelRoom {
  std::uint64_t layers = 0, batch = 1, positions = 1, rows = 1;
  bool fractals = false;
  unsigned rank = 0;
};
// Errors: those of `allocate`.
Result<ModelMemory> allocate_model(const Model& model, DataType type, const ModelRoom& room,
                                   const Allocate& allocate);
// For steps of at most this shape.
Result<StepMemory> allocate_step(const Model& model, DataType type, const StepShape& largest,
                                 std::uint64_t pages, const Allocate& allocate);

}  // namespace npu::workloads::transformer
