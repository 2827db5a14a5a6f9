// SPDX-License-Identifier: Apache-2.0
// The shape of a decoder-only transformer, by name or from a config.json as Hugging Face has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "workloads/transformer/rope.hpp"

namespace npu::workloads::transformer {

// Feed-forward parts of which each token has some. All but the first `dense_layers` layers have
// them.
struct Experts {
  std::uint64_t count = 0;  // 0: the model is dense
  std::uint64_t chosen = 0, inner = 0;
  std::uint64_t shared_inner = 0;        // of the part that all tokens go through; 0: none
  std::uint64_t groups = 1, kept = 1;    // experts are chosen from so many groups
  bool sigmoid = false, biased = false;  // scores: else a softmax; a bias for the choice
  bool normalised = true;                // the weights of a token have the sum 1
  double scale = 1;                      // of weights
  std::uint64_t dense_layers = 0;
  bool shared_gated = false;  // the shared part is weighed by a sigmoid, of each token
  // Cards that whole experts are divided over; then count / cards are on one.
  std::uint64_t cards = 1;
  // Tokens are sent to the cards of their experts: each card has a part of the tokens, and all of
  // the shared part. Else each card has all tokens, and the sum of all cards is the result.
  bool dispatched = false;

  std::uint64_t own() const { return count / cards; }
};

// Keys and values that are made of one row for each token (MLA). `q`, `kv`: numbers of the rows
// that queries, and keys and values, are made of; q 0: queries are made of the hidden state. A head
// of queries has `nope` elements and `rope` ones that are turned, one of values `value`. kv 0: the
// model has heads of keys.
struct Latent {
  std::uint64_t q = 0, kv = 0, nope = 0, rope = 0, value = 0;

  std::uint64_t row() const { return kv + rope; }  // of the cache
  std::uint64_t query() const { return nope + rope; }
};

struct Model {
  std::string name;
  std::uint64_t hidden = 0, layers = 0;
  std::uint64_t heads = 0, kv_heads = 0, head = 0;  // head: elements of one
  std::uint64_t inner = 0;                          // of the feed-forward part
  std::uint64_t vocabulary = 0;
  double epsilon = 1e-6, theta = 10'000;
  bool qkv_bias = false, qk_norm = false;
  Experts experts = {};
  Latent latent = {};
  RopeScaling rope = {};
  bool tied = false;         // the embedding is the last product's matrix, too
  std::uint64_t window = 0;  // keys that a query sees, if that is not all; 0: all
  // Cards that it is divided over. With several, heads, kv_heads, inner and those of experts are
  // those of one.
  std::uint64_t ranks = 1;
  // Cards that have sequences of their own each, and experts together. Then `ranks` is 1.
  std::uint64_t replicas = 1;

  bool has_latent() const { return latent.kv != 0; }
  bool has_experts(std::uint64_t layer) const {
    return experts.count != 0 && layer >= experts.dense_layers;
  }
  std::uint64_t q_width() const { return heads * head; }
  std::uint64_t kv_width() const { return kv_heads * head; }
  std::uint64_t qkv_width() const { return q_width() + 2 * kv_width(); }
  // What attention gives, of all heads; elements of a head that are turned; of a row of the cache.
  std::uint64_t mixed_width() const { return has_latent() ? heads * latent.value : q_width(); }
  std::uint64_t turned() const { return has_latent() ? latent.rope : head; }
  std::uint64_t cache_width() const { return has_latent() ? latent.row() : kv_width(); }
  std::uint64_t head_rows() const { return vocabulary / ranks; }  // of the last product
  // With a latent cache: what queries are made of. What scores are multiplied by.
  std::uint64_t query_inputs() const { return latent.q != 0 ? latent.q : hidden; }
  double score_scale() const;
  // Numbers that a layer has, and so many layers with embedding and head.
  std::uint64_t layer_weights(std::uint64_t layer) const;
  std::uint64_t weights(std::uint64_t of_layers) const;
};

// Those that have names: "tiny", "llama-2-7b" and so on.
std::vector<std::string> known_models();

// A name of these, or the path of a file. kNotFound: neither; kInvalidArgument: one line that names
// the file and the key: one that is missing, no number, beyond what operators have, or of a model
// that is no such decoder (another activation than silu, other scalings of rotary embedding).
Result<Model> read_model(const std::string& name);

// The layers that stand for all: the first two, or of a model with experts the first dense one and
// two with experts.
Model sampled(const Model& model);

}  // namespace npu::workloads::transformer
