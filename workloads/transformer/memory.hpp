// SPDX-License-Identifier: Apache-2.0
// Where a model, its caches and the tensors of a step are in device memory.
#pragma once

#include <functional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/aicore_port.hpp"
#include "workloads/transformer/model.hpp"

namespace npu::workloads::transformer {

using platform::DataType;

inline constexpr std::uint64_t kPage = 128;  // tokens of a page of a cache

// What is computed at once: `tokens` new ones of each sequence, behind `cached` ones.
struct StepShape {
  std::uint64_t batch = 1, tokens = 1, cached = 0;
  // Of the rows of products that all cards sum: the sum of a piece is made while the next one is
  // computed.
  std::uint64_t pieces = 1;
  std::uint64_t rows() const { return batch * tokens; }
  std::uint64_t keys() const { return cached + tokens; }
};

// Matrices of weights lie as outputs x inputs. 0: the model has none.
struct LayerWeights {
  std::uint64_t norm = 0, qkv = 0, qkv_bias = 0, q_norm = 0, k_norm = 0, out = 0;
  std::uint64_t mid_norm = 0, gate_up = 0, down = 0;
};
// Rows of kv_heads x head, kPage of them a page.
struct LayerCache {
  std::uint64_t keys = 0, values = 0;
};

struct ModelMemory {
  std::uint64_t embedding = 0, head = 0, norm = 0;
  std::uint64_t cos = 0, sin = 0;  // a row for each position
  std::vector<LayerWeights> layers;
  std::vector<LayerCache> caches;
  Bytes weight_bytes = 0, cache_bytes = 0;
  std::uint64_t positions = 0;  // that a sequence has room for
  std::uint64_t pages_of_sequence = 0;

  // Where page `index` of a sequence is in the caches: the last one first, as pages that were freed
  // and taken again lie in no order.
  std::uint64_t page_of(std::uint64_t batch, std::uint64_t sequence, std::uint64_t index) const {
    return batch * pages_of_sequence - 1 - (sequence * pages_of_sequence + index);
  }
};

// What every step writes anew.
struct StepMemory {
  std::uint64_t tokens = 0, positions = 0, slots = 0, pages = 0, last = 0;  // indices, by the host
  std::uint64_t x = 0, normed = 0, sum = 0, next_sum = 0, qkv = 0, q = 0, k = 0, v = 0;
  std::uint64_t q_turned = 0, k_turned = 0, mixed = 0, out = 0, gate_up = 0, inner = 0;
  std::uint64_t cos = 0, sin = 0, last_rows = 0, logits = 0, chosen = 0;
  // Of a model that is divided: a card's logits, and those of all cards, one card's behind the
  // other's.
  std::uint64_t own_logits = 0, all_logits = 0;
};

using Allocate = std::function<Result<std::uint64_t>(Bytes)>;

// For `layers` layers and sequences of at most `positions` tokens. Errors: those of `allocate`.
Result<ModelMemory> allocate_model(const Model& model, DataType type, std::uint64_t layers,
                                   std::uint64_t batch, std::uint64_t positions,
                                   const Allocate& allocate);
// For steps of at most this shape.
Result<StepMemory> allocate_step(const Model& model, DataType type, const StepShape& largest,
                                 std::uint64_t pages, const Allocate& allocate);

}  // namespace npu::workloads::transformer
