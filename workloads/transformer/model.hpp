// SPDX-License-Identifier: Apache-2.0
// The shape of a decoder-only transformer, by name or from a config.json as Hugging Face has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::workloads::transformer {

struct Model {
  std::string name;
  std::uint64_t hidden = 0, layers = 0;
  std::uint64_t heads = 0, kv_heads = 0, head = 0;  // head: elements of one
  std::uint64_t inner = 0;                          // of the feed-forward part
  std::uint64_t vocabulary = 0;
  double epsilon = 1e-6, theta = 10'000;
  bool qkv_bias = false, qk_norm = false;
  // Cards that it is divided over. With several, heads, kv_heads and inner are those of one.
  std::uint64_t ranks = 1;

  std::uint64_t q_width() const { return heads * head; }
  std::uint64_t kv_width() const { return kv_heads * head; }
  std::uint64_t qkv_width() const { return q_width() + 2 * kv_width(); }
  std::uint64_t head_rows() const { return vocabulary / ranks; }  // of the last product
  // Numbers that a layer has, and so many layers with embedding and head.
  std::uint64_t layer_weights() const;
  std::uint64_t weights(std::uint64_t of_layers) const {
    return (vocabulary + head_rows() + 1) * hidden + of_layers * layer_weights();
  }
};

// Those that have names: "tiny", "llama-2-7b" and so on.
std::vector<std::string> known_models();

// A name of these, or the path of a file. kNotFound: neither; kInvalidArgument: one line that names
// the file and the key: one that is missing, no number, beyond what operators have, or of a model
// that is no such decoder (another activation than silu, experts, sliding windows).
Result<Model> read_model(const std::string& name);

}  // namespace npu::workloads::transformer
