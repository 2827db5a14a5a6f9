// SPDX-License-Identifier: Apache-2.0
// What the rounds of an attention are told. Heads that share keys and values are a group; its rows
// are the queries of all its heads. Groups come in waves and keys in chunks; a step is a chunk of a
// wave. Round r multiplies the queries with the keys of step r and the weights of step r - 1 with
// its values on cubes, then vector cores add what that gave to the output and make step r's
// weights.
#pragma once

#include "kernels/device/matmul/work.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/aicore/kernel.hpp"

#ifndef NPU_JIT_CAUSAL
#define NPU_JIT_CAUSAL 0
#endif

namespace npu::kernels::attention {

using vector::kTypeA;
using vector::kTypeC;

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "attention is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");
static_assert(NPU_JIT_CAUSAL == 0 || NPU_JIT_CAUSAL == 1, "NPU_JIT_CAUSAL must be 0 or 1");
inline constexpr bool kCausal = NPU_JIT_CAUSAL == 1;

enum class Phase : std::uint64_t { kCubes, kVectors, kZeros };

struct Step {
  std::uint32_t first_group = 0, groups = 0, chunk = 0;
};

struct Work {
  std::uint64_t q = 0, k = 0, v = 0, to = 0;
  // In the workspace, of a wave's rows: scores of a chunk (fp32), its weights, what they give with
  // the values (fp32, of each part of the keys), the output so far (fp32).
  std::uint64_t scores = 0, weights = 0, values = 0, output = 0;
  // In the workspace, of all rows: the largest score, the sum of weights and, of even and odd
  // chunks, what the output so far is to be multiplied by (fp32).
  std::uint64_t largest = 0, sums = 0, factors[2] = {};
  std::uint32_t groups = 0;  // of all batches
  std::uint32_t shared = 1;  // heads of a group
  std::uint32_t queries = 0, keys = 0, head = 0;
  std::uint32_t wave = 0;   // groups
  std::uint32_t chunk = 0;  // keys
  std::uint32_t part = 0;   // of a chunk's keys, that one core multiplies with their values
  std::uint32_t round = 0;
  float scale = 1;
  matmul::Tiling score_tiling, value_tiling;

  std::uint32_t rows() const { return shared * queries; }  // of a group
  std::uint32_t chunks() const { return aicore::divide_up(keys, chunk); }
  std::uint32_t steps() const { return aicore::divide_up(groups, wave) * chunks(); }
  Step step(std::uint32_t index) const {
    const std::uint32_t first = index / chunks() * wave;
    return {first, std::min(wave, groups - first), index % chunks()};
  }

  std::uint32_t first_key(std::uint32_t index) const { return index * chunk; }
  std::uint32_t keys_of(std::uint32_t index) const {
    return std::min(chunk, keys - first_key(index));
  }
  std::uint32_t parts_of(std::uint32_t index) const {
    return aicore::divide_up(keys_of(index), part);
  }
  // Of a causal attention the last query sees all keys, each one before it one key less; sides are
  // below 2^31.
  std::uint32_t seen_by(std::uint32_t query) const {
    return kCausal ? std::max(query + 1 + keys, queries) - queries : keys;
  }
  // How many keys of a chunk a query sees.
  std::uint32_t seen_in(std::uint32_t index, std::uint32_t query) const {
    const std::uint32_t seen = seen_by(query), first = first_key(index);
    return seen <= first ? 0 : std::min(seen - first, keys_of(index));
  }
  // How many keys of a chunk a row of tiles sees, each of `height` of a group's rows.
  std::uint32_t seen_in_tiles(std::uint32_t index, std::uint32_t row, std::uint32_t height) const {
    if (!kCausal) return keys_of(index);
    const std::uint32_t first = row * height, last = std::min(first + height, rows()) - 1;
    const bool ends_a_head = first / queries != last / queries;
    return seen_in(index, ends_a_head ? queries - 1 : last % queries);
  }
  // Queries that see no key, the first ones of each head.
  std::uint32_t blind() const {
    return keys == 0 ? queries : kCausal && queries > keys ? queries - keys : 0;
  }
  // Every tile of a group's rows has a query that sees all keys.
  bool tiles_see_all() const { return !kCausal || (queries <= kShort && blind() == 0); }
  // The first query of a head that a chunk is done for: that sees anything of it. Where every tile
  // does, tiles go on from one head to the next instead.
  std::uint32_t first_query(std::uint32_t index) const {
    if (tiles_see_all()) return 0;
    return std::max(first_key(index) + queries, keys) - keys;
  }

 private:
  // No tile has fewer rows: each has the last query of a head that is not longer.
  static constexpr std::uint32_t kShort = 16;
};

}  // namespace npu::kernels::attention
