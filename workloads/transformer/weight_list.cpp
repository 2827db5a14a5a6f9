// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/weight_list.hpp"

namespace npu::workloads::transformer {
namespace {

#define NPU_WEIGHT(name, ...) all.push_back({&LayerWeights::name, &HostLayer::name, __VA_ARGS__})
constexpr auto kMatrix = WeightKind::kMatrix, kExperts = WeightKind::kExperts,
               kHeads = WeightKind::kHeads, kGamma = WeightKind::kGamma, kBias = WeightKind::kBias;

void list_heads(const Model& model, std::vector<Weight>& all) {
  NPU_WEIGHT(qkv, kMatrix, model.qkv_width(), model.hidden);
  if (model.qkv_bias) NPU_WEIGHT(qkv_bias, kBias, model.qkv_width());
  if (model.qk_norm) {
    NPU_WEIGHT(q_norm, kGamma, model.head);
    NPU_WEIGHT(k_norm, kGamma, model.head);
  }
}
void list_latent(const Model& model, std::vector<Weight>& all) {
  const auto& latent = model.latent;
  NPU_WEIGHT(q_kv, kMatrix, latent.q + latent.row(), model.hidden);
  if (latent.q != 0) NPU_WEIGHT(q_norm, kGamma, latent.q);
  NPU_WEIGHT(k_norm, kGamma, latent.kv);
  NPU_WEIGHT(q_rows, kMatrix, model.heads * latent.query(), model.query_inputs());
  NPU_WEIGHT(keys, kHeads, latent.nope, latent.kv, model.heads);
  NPU_WEIGHT(values, kHeads, latent.value, latent.kv, model.heads);
}
void list_dense(std::uint64_t hidden, std::uint64_t inner, std::vector<Weight>& all) {
  if (inner == 0) return;
  NPU_WEIGHT(gate_up, kMatrix, 2 * inner, hidden);
  NPU_WEIGHT(down, kMatrix, hidden, inner);
}
void list_experts(const Model& model, std::vector<Weight>& all) {
  const auto& experts = model.experts;
  NPU_WEIGHT(router, kMatrix, experts.count, model.hidden);
  if (experts.biased) NPU_WEIGHT(router_bias, kBias, experts.count);
  list_dense(model.hidden, experts.shared_inner, all);
  if (experts.shared_gated) NPU_WEIGHT(shared_gate, kMatrix, 1, model.hidden);
  NPU_WEIGHT(expert_gate_up, kExperts, 2 * experts.inner, model.hidden, experts.own());
  NPU_WEIGHT(expert_down, kExperts, model.hidden, experts.inner, experts.own());
}
#undef NPU_WEIGHT

}  // namespace

std::vector<Weight> weights_of_layer(const Model& model, std::uint64_t layer) {
  std::vector<Weight> all{{&LayerWeights::norm, &HostLayer::norm, kGamma, model.hidden, 1},
                          {&LayerWeights::mid_norm, &HostLayer::mid_norm, kGamma, model.hidden, 1}};
  model.has_latent() ? list_latent(model, all) : list_heads(model, all);
  all.push_back({&LayerWeights::out, &HostLayer::out, kMatrix, model.hidden, model.mixed_width()});
  model.has_experts(layer) ? list_experts(model, all) : list_dense(model.hidden, model.inner, all);
  return all;
}

}  // namespace npu::workloads::transformer
