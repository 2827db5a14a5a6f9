// SPDX-License-Identifier: Apache-2.0
#include "model/config/overrides.hpp"

#include "model/config/load.hpp"
#include "model/config/short_keys.hpp"
#include "npu/base/shortened.hpp"

namespace npu::model {

ConfigResult<Overrides> Overrides::parse(const std::vector<std::string>& arguments) {
  Overrides parsed;
  for (const auto& argument : arguments) {
    const SourcePlace place{"--set " + shortened(argument), 0, 0};
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) {
      ConfigError error = error_at(place, "", "not of the form key=value");
      return tl::unexpected(error);
    }
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.place = place;
    node.text = argument.substr(equals + 1);
    const std::string key = argument.substr(0, equals);
    const ReplacedKey as_given{key, node.text, true};
    if (!parsed.values_.emplace(key, Value{node, false, as_given}).second) {
      return tl::unexpected(error_at(place, "", "'" + shortened(key) + "' is set twice"));
    }
  }
  return parsed;
}

Overrides::Value* Overrides::value_of(const KeyPath& path) {
  auto found = values_.find(path.full());
  if (found == values_.end()) found = values_.find(path.local);
  return found == values_.end() ? nullptr : &found->second;
}

const YamlNode* Overrides::find(const KeyPath& path) {
  if (const auto general = values_.find(path.local); general != values_.end()) {
    general->second.used = true;
  }
  Value* const found = value_of(path);
  if (found == nullptr) return nullptr;
  found->used = true;
  return &found->node;
}

void Overrides::resolve(const KeyPath& path, const std::string& value, bool is_text) {
  Value* const found = value_of(path);
  if (found == nullptr) return;
  found->resolved.value = value;
  found->resolved.is_text = is_text;
}

std::vector<ReplacedKey> Overrides::resolved() const {
  std::vector<ReplacedKey> all;
  for (const auto& [key, value] : values_) all.push_back(value.resolved);
  return all;
}

bool Overrides::of_one_card() const {
  const std::string prefix = "cards.";
  const auto first = values_.lower_bound(prefix);
  return first != values_.end() && first->first.compare(0, prefix.size(), prefix) == 0;
}

ConfigResult<void> Overrides::check_all_used() const {
  for (const auto& [key, value] : values_) {
    if (value.used) continue;
    ConfigError error = error_at(value.node.place, "", "unknown key '" + shortened(key) + "'");
    error.suggestion = nearest_key(key);
    if (error.suggestion.empty()) error.allowed = "the keys that `npusim config keys` lists";
    return tl::unexpected(error);
  }
  return {};
}

}  // namespace npu::model
