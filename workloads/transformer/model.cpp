// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "tools/reports/input_file.hpp"
#include "tools/reports/json_value.hpp"

namespace npu::workloads::transformer {
namespace {

using reports::JsonValue;

// "tiny" is for trials whose results are compared; the others: the models' own config.json files.
const std::vector<Model>& models() {
  static const std::vector<Model> kModels = {
      {"tiny", 256, 2, 8, 4, 32, 512, 1000, 1e-6, 1e4, false, false},
      {"llama-2-7b", 4096, 32, 32, 32, 128, 11008, 32000, 1e-5, 1e4, false, false},
      {"llama-3-8b", 4096, 32, 32, 8, 128, 14336, 128256, 1e-5, 5e5, false, false},
      {"llama-3-70b", 8192, 80, 64, 8, 128, 28672, 128256, 1e-5, 5e5, false, false},
      {"qwen2.5-0.5b", 896, 24, 14, 2, 64, 4864, 151936, 1e-6, 1e6, true, false},
      {"qwen2.5-7b", 3584, 28, 28, 4, 128, 18944, 152064, 1e-6, 1e6, true, false},
      {"qwen2.5-72b", 8192, 80, 64, 8, 128, 29568, 152064, 1e-6, 1e6, true, false},
      {"qwen3-8b", 4096, 36, 32, 8, 128, 12288, 151936, 1e-6, 1e6, false, true},
      {"qwen3-32b", 5120, 64, 64, 8, 128, 25600, 151936, 1e-6, 1e6, false, true},
  };
  return kModels;
}

constexpr std::uint64_t kMostSide = 1U << 24;
constexpr std::uint64_t kMostLayers = 1024;

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
    model.qk_norm = kind == "qwen3";
    model.qkv_bias = kind == "qwen2" || flag("attention_bias");
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
    for (const char* other :
         {"num_experts", "n_routed_experts", "num_local_experts", "kv_lora_rank"}) {
      if (find(other) != nullptr) return refuse(other, "only dense decoders are possible");
    }
    if (flag("use_sliding_window")) {
      return refuse("use_sliding_window", "attention sees all keys");
    }
    if (find("rope_scaling") != nullptr) {
      return refuse("rope_scaling", "rotary embedding is not scaled");
    }
    return {};
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

std::uint64_t Model::layer_weights() const {
  return hidden * qkv_width() + q_width() * hidden + 3 * hidden * inner + 2 * hidden +
         (qkv_bias ? qkv_width() : 0) + (qk_norm ? 2 * head : 0);
}

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  for (const auto& model : models()) names.push_back(model.name);
  return names;
}

Result<Model> read_model(const std::string& name) {
  for (const auto& model : models()) {
    if (model.name == name) return model;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) {
    const auto nearest = nearest_name(name, known_models());
    return fail(ErrorCode::kNotFound,
                fmt::format("'{}' is no model and no file; allowed: {}, a config.json{}",
                            shortened(name, kShownPath), fmt::join(known_models(), ", "),
                            nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
  }
  const auto file = reports::read_file(name);
  if (!file) return fail(ErrorCode::kInvalidArgument, file.error().context);
  const auto json = reports::parse_json(*file);
  if (!json || json->kind != JsonValue::Kind::kObject) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}", shortened(name, kShownPath),
                            json ? "found no object" : json.error().context));
  }
  return ConfigReader(name, *json).read();
}

}  // namespace npu::workloads::transformer
