// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/model_config.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "npu/base/shortened.hpp"

namespace npu::workloads::transformer {
namespace {

using reports::JsonValue;

constexpr std::uint64_t kMostSide = 1U << 24;
constexpr std::uint64_t kMostLayers = 1024, kMostExperts = 1024;

class ConfigReader {
 public:
  ConfigReader(const std::string& file, const JsonValue& json) : file_(file), json_(json) {}

  Result<Model> read() {
    Model model;
    model.name = file_;
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
    if (model.head % 2 != 0) return refuse("head_dim", "rotary embedding needs an even one");
    const auto epsilon = real("rms_norm_eps", model.epsilon);
    if (!epsilon) return forward_error(epsilon);
    const auto theta = real("rope_theta", model.theta);
    if (!theta) return forward_error(theta);
    model.epsilon = *epsilon, model.theta = *theta;
    const std::string kind = text("model_type");
    model.qk_norm = kind == "qwen3" || kind == "qwen3_moe";
    model.qkv_bias = kind == "qwen2" || flag("attention_bias");
    if (auto read = read_experts(model); !read) return forward_error(read);
    if (auto read = read_latent(model); !read) return forward_error(read);
    return model;
  }

 private:
  struct Key {
    const char* name;
    std::uint64_t& to;
    std::uint64_t most, usual;  // usual: if it is missing; 0: it may not be
  };

  tl::unexpected<Error> refuse(const std::string& key, const std::string& why) const {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}: {}", shortened(file_, kShownPath), key, why));
  }
  const JsonValue* find(const char* name) const {
    const auto* const value = json_.find(name);
    return value == nullptr || value->kind == JsonValue::Kind::kNull ? nullptr : value;
  }
  std::string text(const char* name) const {
    const auto* const value = find(name);
    return value != nullptr && value->kind == JsonValue::Kind::kString ? value->text : "";
  }
  bool flag(const char* name) const {
    const auto* const value = find(name);
    return value != nullptr && value->text == "true";
  }
  Status check_kind() const {
    const std::string activation = text("hidden_act");
    if (!activation.empty() && activation != "silu") {
      return refuse("hidden_act", fmt::format("found '{}'; allowed: silu", shortened(activation)));
    }
    if (flag("use_sliding_window")) {
      return refuse("use_sliding_window", "attention sees all keys");
    }
    if (find("rope_scaling") != nullptr) {
      return refuse("rope_scaling", "rotary embedding is not scaled");
    }
    return {};
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
    for (const char* other : {"shared_expert_intermediate_size"}) {
      if (find(other) != nullptr) return refuse(other, "a gate of shared experts is not possible");
    }
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
    const auto scale = real("routed_scaling_factor", 1);
    if (!scale) return forward_error(scale);
    experts.scale = *scale;
    return find("first_k_dense_replace") == nullptr || text_of("first_k_dense_replace") == "0"
               ? Status()
               : take({"first_k_dense_replace", experts.dense_layers, model.layers, 0});
  }
  Status read_latent(Model& model) const {
    if (find("kv_lora_rank") == nullptr) return {};
    auto& latent = model.latent;
    const Key keys[] = {{"kv_lora_rank", latent.kv, kMostSide, 0},
                        {"q_lora_rank", latent.q, kMostSide, 0},
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
  std::string text_of(const char* name) const {
    const auto* const value = find(name);
    return value == nullptr ? "" : value->text;
  }
  Status take(const Key& key) const {
    const auto* const value = find(key.name);
    if (value == nullptr && key.usual != 0) {
      key.to = key.usual;
      return {};
    }
    if (value == nullptr) return refuse(key.name, "it is missing");
    const auto* const end = value->text.data() + value->text.size();
    const auto read = std::from_chars(value->text.data(), end, key.to);
    const bool whole = value->kind == JsonValue::Kind::kNumber && read.ec == std::errc() &&
                       read.ptr == end && key.to >= 1 && key.to <= key.most;
    if (whole) return {};
    return refuse(key.name, fmt::format("found {}; allowed: 1 to {}", value->shown(), key.most));
  }
  Result<double> real(const char* name, double usual) const {
    const auto* const value = find(name);
    if (value == nullptr) return usual;
    char* end = nullptr;
    const double number = std::strtod(value->text.c_str(), &end);
    if (value->kind == JsonValue::Kind::kNumber && *end == '\0' && number > 0 && number < 1e12) {
      return number;
    }
    return refuse(name, fmt::format("found {}; allowed: a number above 0", value->shown()));
  }

  const std::string& file_;
  const JsonValue& json_;
};

}  // namespace

Result<Model> model_of(const std::string& file, const JsonValue& json) {
  return ConfigReader(file, json).read();
}

}  // namespace npu::workloads::transformer
