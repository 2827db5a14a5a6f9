// SPDX-License-Identifier: Apache-2.0
// The weights of a layer: one list for device memory, for the host's numbers and for their count.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/platform/aicore_port.hpp"
#include "workloads/transformer/model.hpp"

namespace npu::workloads::transformer {

using platform::DataType;
using Numbers = std::vector<double>;

// Matrices lie as outputs x inputs, those of experts or heads one behind the other. On the card
// those of linear layers may lie in fractals (weights.hpp).
template <class T>
struct LayerOf {
  T norm{}, mid_norm{};
  T qkv{}, qkv_bias{}, q_norm{}, k_norm{}, out{};
  T gate_up{}, down{};  // of the dense part, or of the one that all tokens go through
  T router{}, router_bias{}, expert_gate_up{}, expert_down{};
  T shared_gate{};  // what the part of all tokens is weighed by
  // Of a latent cache: rows of queries and of the cache, queries of the former, and what makes keys
  // and values of a row of the cache, for each head. q_norm and k_norm are those of the rows.
  T q_kv{}, q_rows{}, keys{}, values{};
};
using LayerWeights = LayerOf<std::uint64_t>;  // where they are; 0: the model has none
using HostLayer = LayerOf<Numbers>;

// kExperts: matrices of grouped products; kHeads: those of batched ones, which lie in rows; kBias:
// fp32.
enum class WeightKind : std::uint8_t { kMatrix, kExperts, kHeads, kGamma, kBias };

struct Weight {
  std::uint64_t LayerWeights::*address;
  Numbers HostLayer::*numbers;
  WeightKind kind = WeightKind::kMatrix;
  std::uint64_t outputs = 0, inputs = 1;
  std::uint64_t matrices = 1;  // of outputs x inputs

  std::uint64_t count() const { return matrices * outputs * inputs; }
  DataType type(DataType model) const {
    return kind == WeightKind::kBias ? DataType::kFp32 : model;
  }
};
// Those that a layer has.
std::vector<Weight> weights_of_layer(const Model& model, std::uint64_t layer);

}  // namespace npu::workloads::transformer
