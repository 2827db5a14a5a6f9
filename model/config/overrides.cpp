// SPDX-License-Identifier: Apache-2.0
#include "model/config/overrides.hpp"

#include "model/config/load.hpp"
#include "model/config/nearest_name.hpp"

namespace npu::model {

ConfigResult<Overrides> Overrides::parse(const std::vector<std::string>& arguments) {
  Overrides parsed;
  for (const auto& argument : arguments) {
    const SourcePlace place{"--set " + argument, 0, 0};
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
    if (!parsed.values_.emplace(key, Value{node, false}).second) {
      return tl::unexpected(error_at(place, "", "'" + key + "' is set twice"));
    }
  }
  return parsed;
}

const YamlNode* Overrides::find(const KeyPath& path) {
  auto found = values_.find(path.full());
  const auto general = values_.find(path.local);
  if (general != values_.end()) general->second.used = true;
  if (found == values_.end()) found = general;
  if (found == values_.end()) return nullptr;
  found->second.used = true;
  return &found->second.node;
}

ConfigResult<void> Overrides::check_all_used() const {
  for (const auto& [key, value] : values_) {
    if (value.used) continue;
    ConfigError error = error_at(value.node.place, "", "unknown key '" + key + "'");
    error.suggestion = nearest_name(key, override_keys());
    if (error.suggestion.empty()) error.allowed = "the keys that `npusim config keys` lists";
    return tl::unexpected(error);
  }
  return {};
}

}  // namespace npu::model
