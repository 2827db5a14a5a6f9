// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "npu/base/shortened.hpp"
#include "workloads/transformer/config_keys.hpp"
#include "workloads/transformer/rope_config.hpp"

namespace npu::workloads::transformer {
namespace {

using reports::JsonValue;

constexpr std::uint64_t kMostSide = 1U << 24;
constexpr std::uint64_t kMostLayers = 1024, kMostExperts = 1024;

constexpr const char* kModelTypes[] = {"llama",       "mistral", "mixtral",   "qwen2",
                                       "qwen2_moe",   "qwen3",   "qwen3_moe", "deepseek_v2",
                                       "deepseek_v3", "kimi_k2"};

class ConfigReader {
  using Key = ConfigKeys::Whole;

 public:
  ConfigReader(const std::string& file, const JsonValue& json) : keys_(file, json) {}

  Result<Model> read() {
    Model model;
    model.name = keys_.file();
    if (auto ok = check_kind(); !ok) return forward_error(ok);
    const Key keys[] = {{"hidden_size", model.hidden, kMostSide, 0},
                        {"num_hidden_layers", model.layers, kMostLayers, 0},
                        {"num_attention_heads", model.heads, kMostSide, 0},
                        {"intermediate_size", model.inner, kMostSide, 0},
                        {"vocab_size", model.vocabulary, kMostSide, 0}};
    for (const auto& key : keys) {
      if (auto ok = take(key); !ok) return forward_error(ok);
    }
    auto ok = take({"num_key_value_heads", model.kv_heads, kMostSide, model.heads});
    if (!ok) return forward_error(ok);
    ok = take({"head_dim", model.head, kMostSide, model.hidden / model.heads});
    if (!ok) return forward_error(ok);
    if (model.heads % model.kv_heads != 0) {
      return refuse("num_key_value_heads", "it does not divide num_attention_heads");
    }
    const auto epsilon = keys_.real("rms_norm_eps", model.epsilon);
    if (!epsilon) return forward_error(epsilon);
    model.epsilon = *epsilon;
    if (ok = read_rope(keys_, model); !ok) return forward_error(ok);
    if (ok = read_window(model); !ok) return forward_error(ok);
    const std::string kind = text("model_type");
    model.qk_norm = kind == "qwen3" || kind == "qwen3_moe";
    model.qkv_bias = kind == "qwen2" || (kind == "qwen2_moe" && flag("qkv_bias", true));
    model.tied = flag("tie_word_embeddings");
    if (auto read = read_experts(model); !read) return forward_error(read);
    if (auto read = read_latent(model); !read) return forward_error(read);
    if (model.head % 2 != 0 && !model.has_latent()) {
      return refuse("head_dim", "rotary embedding needs an even one");
    }
    return model;
  }

 private:
  // Another kind may differ in what has no key.
  Status check_kind() const {
    const std::string kind = text("model_type"), activation = text("hidden_act");
    const auto* const known = std::find(std::begin(kModelTypes), std::end(kModelTypes), kind);
    if (!kind.empty() && known == std::end(kModelTypes)) {
      return refuse("model_type", fmt::format("found '{}'; allowed: {}", shortened(kind),
                                              fmt::join(kModelTypes, ", ")));
    }
    if (!activation.empty() && activation != "silu") {
      return refuse("hidden_act", fmt::format("found '{}'; allowed: silu", shortened(activation)));
    }
    if (flag("attention_bias")) {
      return refuse("attention_bias", "a bias of queries, keys and values is that of qwen2");
    }
    if (flag("mlp_bias")) return refuse("mlp_bias", "the feed-forward part has no bias");
    const auto part = keys_.real("partial_rotary_factor", 1);
    if (!part) return forward_error(part);
    if (*part == 1) return {};
    return refuse("partial_rotary_factor", "all elements of a head are turned");
  }
  // Models of qwen say a window, and whether it is used.
  Status read_window(Model& model) const {
    const bool of_qwen = text("model_type").rfind("qwen", 0) == 0;
    if (!flag("use_sliding_window", !of_qwen)) return {};
    if (find("sliding_window") == nullptr && find("use_sliding_window") == nullptr) return {};
    return take({"sliding_window", model.window, kMostSide, 0});
  }
  // Names of the key differ from kind to kind.
  const char* experts_key() const {
    for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"}) {
      if (find(key) != nullptr) return key;
    }
    return nullptr;
  }
  Status read_experts(Model& model) const {
    const char* const count = experts_key();
    if (count == nullptr) return {};
    auto& experts = model.experts;
    std::uint64_t shared = 1;
    const bool shares = find("n_shared_experts") != nullptr;
    const Key keys[] = {{count, experts.count, kMostExperts, 0},
                        {"num_experts_per_tok", experts.chosen, kMostExperts, 0},
                        {"moe_intermediate_size", experts.inner, kMostSide, model.inner},
                        {"n_shared_experts", shared, kMostExperts, 1},
                        {"n_group", experts.groups, kMostExperts, 1},
                        {"topk_group", experts.kept, kMostExperts, experts.groups}};
    for (const auto& key : keys) {
      if (auto ok = take(key); !ok) return ok;
    }
    if (shares) experts.shared_inner = shared * experts.inner;
    constexpr const char* kGated = "shared_expert_intermediate_size";
    experts.shared_gated = find(kGated) != nullptr;
    if (experts.shared_gated) {
      if (shares) return refuse(kGated, "n_shared_experts is there, too");
      if (auto ok = take({kGated, experts.shared_inner, kMostSide, 0}); !ok) return ok;
    }
    if (experts.chosen > experts.count) return refuse("num_experts_per_tok", "there are fewer");
    if (const auto ok = check_groups(experts); !ok) return ok;
    return read_gating(model);
  }
  Status check_groups(const Experts& experts) const {
    if (find("topk_group") == nullptr || experts.kept == experts.groups) return {};
    if (experts.kept > experts.groups) return refuse("topk_group", "it is more than n_group");
    if (experts.groups % 8 != 0 || experts.count % (8 * experts.groups) != 0) {
      return refuse("n_group", "groups and the experts of each must be multiples of 8");
    }
    if (experts.chosen <= experts.count / experts.groups * experts.kept) return {};
    return refuse("topk_group", "its groups have fewer experts than num_experts_per_tok");
  }
  Status read_gating(Model& model) const {
    auto& experts = model.experts;
    for (const char* other : {"decoder_sparse_step", "moe_layer_freq"}) {
      std::uint64_t step = 1;
      if (auto ok = take({other, step, 1, 1}); !ok) return ok;
    }
    const auto* const dense = find("mlp_only_layers");
    if (dense != nullptr && !dense->elements.empty()) {
      return refuse("mlp_only_layers", "layers with experts follow one another");
    }
    const std::string scores = text("scoring_func"), method = text("topk_method");
    if (!scores.empty() && scores != "softmax" && scores != "sigmoid") {
      return refuse("scoring_func", "allowed: softmax, sigmoid");
    }
    if (!method.empty() && method != "greedy" && method != "noaux_tc") {
      return refuse("topk_method", "allowed: greedy, noaux_tc");
    }
    if (method == "greedy") experts.groups = experts.kept = 1;
    experts.sigmoid = scores == "sigmoid", experts.biased = method == "noaux_tc";
    const bool always = text("model_type") == "mixtral";
    experts.normalised = always || flag("norm_topk_prob");
    const auto scale = keys_.real("routed_scaling_factor", 1);
    if (!scale) return forward_error(scale);
    experts.scale = *scale;
    const auto* const first = find("first_k_dense_replace");
    return first == nullptr || first->text == "0"
               ? Status()
               : take({"first_k_dense_replace", experts.dense_layers, model.layers, 0});
  }
  Status read_latent(Model& model) const {
    if (find("kv_lora_rank") == nullptr) return {};
    auto& latent = model.latent;
    // With null, queries are made of the hidden state.
    const bool direct =
        find("q_lora_rank") == nullptr && keys_.json().find("q_lora_rank") != nullptr;
    if (!direct) {
      if (auto ok = take({"q_lora_rank", latent.q, kMostSide, 0}); !ok) return ok;
    }
    const Key keys[] = {{"kv_lora_rank", latent.kv, kMostSide, 0},
                        {"qk_nope_head_dim", latent.nope, kMostSide, 0},
                        {"qk_rope_head_dim", latent.rope, kMostSide, 0},
                        {"v_head_dim", latent.value, kMostSide, 0}};
    for (const auto& key : keys) {
      if (auto ok = take(key); !ok) return ok;
    }
    if (latent.rope % 2 != 0) {
      return refuse("qk_rope_head_dim", "rotary embedding needs an even one");
    }
    if (model.qkv_bias || model.qk_norm) {
      return refuse("kv_lora_rank", "such attention has no bias and no norm of heads");
    }
    model.kv_heads = model.heads, model.head = latent.query();
    return {};
  }
  tl::unexpected<Error> refuse(const std::string& key, const std::string& why) const {
    return keys_.refuse(key, why);
  }
  const JsonValue* find(const char* name) const { return keys_.find(name); }
  std::string text(const char* name) const { return keys_.text(name); }
  bool flag(const char* name, bool usual = false) const { return keys_.flag(name, usual); }
  Status take(const Key& key) const { return keys_.take(key); }

  const ConfigKeys keys_;
};

}  // namespace

Result<Model> model_of(const std::string& file, const JsonValue& json) {
  return ConfigReader(file, json).read();
}

}  // namespace npu::workloads::transformer
