// SPDX-License-Identifier: Apache-2.0
// What the rounds of an attention are told. Keys come in chunks; round r multiplies chunk r with
// the queries and the weights of chunk r - 1 with its values on cubes, then vector cores add what
// that gave to the output and make chunk r's weights.
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

struct Work {
  std::uint64_t q = 0, k = 0, v = 0, to = 0;
  // In the workspace, of all heads: scores of a chunk (fp32), its weights, what they give with the
  // values (fp32), the output so far (fp32), and of each row the largest score, the sum of weights
  // and, of even and odd chunks, what the output so far is to be multiplied by (fp32).
  std::uint64_t scores = 0, weights = 0, values = 0, output = 0;
  std::uint64_t largest = 0, sums = 0, factors[2] = {};
  std::uint32_t heads = 0;   // of all batches
  std::uint32_t shared = 1;  // of them with one set of keys and values
  std::uint32_t queries = 0, keys = 0, head = 0;
  std::uint32_t chunk = 0, round = 0;
  float scale = 1;
  matmul::Tiling score_tiling, value_tiling;

  std::uint32_t chunks() const { return aicore::divide_up(keys, chunk); }
  std::uint32_t first_key(std::uint32_t index) const { return index * chunk; }
  std::uint32_t keys_of(std::uint32_t index) const {
    return std::min(chunk, keys - first_key(index));
  }
  // Of a causal attention the last query sees all keys, each one before it one key less; sides are
  // below 2^31.
  std::uint32_t seen_by(std::uint32_t query) const {
    return kCausal ? std::max(query + 1 + keys, queries) - queries : keys;
  }
  // The first query that sees anything of a chunk.
  std::uint32_t first_query(std::uint32_t index) const {
    return kCausal ? std::max(first_key(index) + queries, keys) - keys : 0;
  }
  // Queries that see no key, the first ones of each head.
  std::uint32_t blind() const { return keys == 0 ? queries : first_query(0); }
};

}  // namespace npu::kernels::attention
