// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "tools/reports/input_file.hpp"
#include "tools/reports/json_value.hpp"
#include "workloads/transformer/model_config.hpp"
#include "workloads/transformer/weight_list.hpp"

namespace npu::workloads::transformer {
namespace {

using reports::JsonValue;

// count, chosen, inner, shared inner, groups, kept, sigmoid, bias, normalised, scale, dense layers
constexpr Experts kTinyExperts{16, 4, 128}, kQwen3Experts{128, 8, 768},
    kMixtralExperts{8, 2, 14336};
constexpr Experts kTinyDeepExperts{64, 6, 64, 64, 8, 4, true, true, true, 2.5, 1};
constexpr Experts kDeepSeekExperts{256, 8, 2048, 2048, 8, 4, true, true, true, 2.5, 3};
// q, kv, nope, rope, value
constexpr Latent kTinyLatent{96, 64, 32, 16, 32}, kDeepSeekLatent{1536, 512, 128, 64, 128};

constexpr Experts kNoExperts{};
constexpr Latent kNoLatent{};
// kind, factor, positions, slow, fast, sizes
constexpr RopeScaling kNoScaling{};
constexpr RopeScaling kLlama31Rope{RopeKind::kLlama3, 8, 8192, 1, 4};
constexpr RopeScaling kDeepSeekRope{RopeKind::kYarn, 40, 4096, 1, 32, 1, 1};

// Those named tiny are for trials whose results are compared; the others: the models' own
// config.json files.
const std::vector<Model>& models() {
  static const std::vector<Model> kModels = {
      {"tiny", 256, 2, 8, 4, 32, 512, 1000, 1e-6, 1e4, false, false},
      {"llama-2-7b", 4096, 32, 32, 32, 128, 11008, 32000, 1e-5, 1e4, false, false},
      {"llama-3-8b", 4096, 32, 32, 8, 128, 14336, 128256, 1e-5, 5e5, false, false},
      {"llama-3.1-8b", 4096, 32, 32, 8, 128, 14336, 128256, 1e-5, 5e5, false, false, kNoExperts,
       kNoLatent, kLlama31Rope},
      {"llama-3-70b", 8192, 80, 64, 8, 128, 28672, 128256, 1e-5, 5e5, false, false},
      {"qwen2.5-0.5b", 896, 24, 14, 2, 64, 4864, 151936, 1e-6, 1e6, true, false, kNoExperts,
       kNoLatent, kNoScaling, true},
      {"qwen2.5-7b", 3584, 28, 28, 4, 128, 18944, 152064, 1e-6, 1e6, true, false},
      {"qwen2.5-72b", 8192, 80, 64, 8, 128, 29568, 152064, 1e-6, 1e6, true, false},
      {"qwen3-8b", 4096, 36, 32, 8, 128, 12288, 151936, 1e-6, 1e6, false, true},
      {"qwen3-32b", 5120, 64, 64, 8, 128, 25600, 151936, 1e-6, 1e6, false, true},
      {"tiny-moe", 256, 2, 8, 4, 32, 512, 1000, 1e-6, 1e4, false, true, kTinyExperts},
      {"qwen3-30b-a3b", 2048, 48, 32, 4, 128, 6144, 151936, 1e-6, 1e6, false, true, kQwen3Experts},
      {"mixtral-8x7b", 4096, 32, 32, 8, 128, 14336, 32000, 1e-5, 1e6, false, false,
       kMixtralExperts},
      {"tiny-mla", 256, 3, 8, 8, 48, 512, 1000, 1e-6, 1e4, false, false, kTinyDeepExperts,
       kTinyLatent},
      {"deepseek-v3", 7168, 61, 128, 128, 192, 18432, 129280, 1e-6, 1e4, false, false,
       kDeepSeekExperts, kDeepSeekLatent, kDeepSeekRope},
  };
  return kModels;
}

}  // namespace

std::uint64_t Model::layer_weights(std::uint64_t layer) const {
  std::uint64_t count = 0;
  for (const auto& weight : weights_of_layer(*this, layer)) count += weight.count();
  return count;
}

std::uint64_t Model::weights(std::uint64_t of_layers) const {
  std::uint64_t count = (vocabulary + (tied ? 0 : head_rows()) + 1) * hidden;
  for (std::uint64_t i = 0; i < of_layers; ++i) count += layer_weights(i);
  return count;
}

double Model::score_scale() const {
  const double scale = 1 / std::sqrt(static_cast<double>(head));
  return has_latent() ? scale * score_factor(rope) : scale;
}

Model sampled(const Model& model) {
  Model sample = model;
  auto& dense = sample.experts.dense_layers;
  dense = std::min<std::uint64_t>(dense, 1);
  sample.layers = std::min(model.layers, dense + 2);
  return sample;
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
  return model_of(name, *json);
}

}  // namespace npu::workloads::transformer
