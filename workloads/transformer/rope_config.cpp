// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/rope_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/shortened.hpp"

namespace npu::workloads::transformer {
namespace {

constexpr std::uint64_t kMostPositions = 1U << 30;

struct KnownKind {
  const char* name;
  RopeKind kind;
  std::vector<std::string> keys;  // beside the kind's own
};
const std::vector<KnownKind>& known_kinds() {
  static const std::vector<KnownKind> kKinds = {
      {"default", RopeKind::kPlain, {}},
      {"linear", RopeKind::kLinear, {"factor"}},
      {"llama3",
       RopeKind::kLlama3,
       {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"}},
      {"yarn",
       RopeKind::kYarn,
       {"factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "mscale",
        "mscale_all_dim", "attention_factor", "truncate"}}};
  return kKinds;
}

// Of one kind; `to` has it already.
class ScalingReader {
 public:
  ScalingReader(const ConfigKeys& config, const ConfigKeys& keys, RopeScaling& to)
      : config_(config), keys_(keys), to_(to) {}

  Status read() {
    if (to_.kind == RopeKind::kPlain) return {};
    if (keys_.find("factor") == nullptr) return keys_.refuse("factor", "it is missing");
    if (auto ok = number("factor", to_.factor); !ok) return ok;
    if (to_.factor < 1) return keys_.refuse("factor", "it is less than 1");
    if (to_.kind == RopeKind::kLlama3) return read_llama();
    return to_.kind == RopeKind::kYarn ? read_yarn() : Status();
  }

 private:
  // Keeps the usual value if the key is missing.
  Status number(const char* key, double& to) const {
    const auto found = keys_.real(key, to);
    if (!found) return forward_error(found);
    to = *found;
    return {};
  }
  Status positions(std::uint64_t usual) {
    return keys_.take({"original_max_position_embeddings", to_.positions, kMostPositions, usual});
  }
  Status read_llama() {
    if (auto ok = positions(0); !ok) return ok;
    for (const char* key : {"low_freq_factor", "high_freq_factor"}) {
      if (keys_.find(key) == nullptr) return keys_.refuse(key, "it is missing");
    }
    if (auto ok = number("low_freq_factor", to_.slow); !ok) return ok;
    if (auto ok = number("high_freq_factor", to_.fast); !ok) return ok;
    if (to_.fast > to_.slow) return {};
    return keys_.refuse("high_freq_factor", "it is not more than low_freq_factor");
  }
  Status read_yarn() {
    std::uint64_t usual = 0;
    const bool given = keys_.find("original_max_position_embeddings") != nullptr;
    const ConfigKeys::Whole most{"max_position_embeddings", usual, kMostPositions, 0};
    if (!given) {
      if (auto ok = config_.take(most); !ok) return ok;
    }
    if (auto ok = positions(usual); !ok) return ok;
    to_.fast = 32;
    const std::pair<const char*, double&> numbers[] = {{"beta_fast", to_.fast},
                                                       {"beta_slow", to_.slow},
                                                       {"mscale", to_.size},
                                                       {"mscale_all_dim", to_.score_size},
                                                       {"attention_factor", to_.given_size}};
    for (const auto& [key, to] : numbers) {
      if (auto ok = number(key, to); !ok) return ok;
    }
    to_.truncated = keys_.flag("truncate", true);
    return to_.fast >= to_.slow ? Status() : keys_.refuse("beta_fast", "it is less than beta_slow");
  }

  const ConfigKeys& config_;
  const ConfigKeys& keys_;
  RopeScaling& to_;
};

Status check_keys(const ConfigKeys& keys, const KnownKind& kind) {
  std::vector<std::string> allowed = kind.keys;
  for (const auto& member : keys.json().members) {
    const auto& name = member.first;
    if (name == "rope_type" || name == "type" || name == "rope_theta") continue;
    if (member.second.kind == reports::JsonValue::Kind::kNull) continue;
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    return keys.refuse(shortened(name), fmt::format("rope_type {} has no such key", kind.name));
  }
  return {};
}

Status read_scaling(const ConfigKeys& config, const ConfigKeys& keys, RopeScaling& to) {
  const char* const key = keys.find("rope_type") != nullptr ? "rope_type" : "type";
  const std::string name = keys.text(key);
  if (name.empty()) return keys.refuse("rope_type", "it is missing");
  for (const auto& known : known_kinds()) {
    if (known.name != name) continue;
    to.kind = known.kind;
    if (auto ok = check_keys(keys, known); !ok) return ok;
    return ScalingReader(config, keys, to).read();
  }
  return keys.refuse(
      key, fmt::format("found '{}'; allowed: default, linear, llama3, yarn", shortened(name)));
}

Status take_theta(const ConfigKeys& keys, double& theta) {
  const auto found = keys.real("rope_theta", theta);
  if (!found) return forward_error(found);
  if (*found <= 1) return keys.refuse("rope_theta", "it is not more than 1");
  theta = *found;
  return {};
}

}  // namespace

Status read_rope(const ConfigKeys& config, Model& model) {
  if (auto ok = take_theta(config, model.theta); !ok) return ok;
  const auto* const scaling = config.find("rope_scaling");
  const auto* const parameters = config.find("rope_parameters");
  if (scaling != nullptr && parameters != nullptr) {
    return config.refuse("rope_scaling", "rope_parameters is there, too");
  }
  if (scaling == nullptr && parameters == nullptr) return {};
  const char* const name = scaling != nullptr ? "rope_scaling" : "rope_parameters";
  const auto& object = scaling != nullptr ? *scaling : *parameters;
  if (object.kind != reports::JsonValue::Kind::kObject) {
    return config.refuse(name, fmt::format("found {}; an object is wanted", object.shown()));
  }
  const ConfigKeys keys(config.file(), object, fmt::format("{}.", name));
  if (auto ok = take_theta(keys, model.theta); !ok) return ok;
  return read_scaling(config, keys, model.rope);
}

}  // namespace npu::workloads::transformer
