// SPDX-License-Identifier: Apache-2.0
#include "model/config/short_keys.hpp"

#include <algorithm>

#include "model/config/load.hpp"

namespace npu::model {
namespace {

bool is_list_key(const std::string& key) {
  return key.rfind("cards.", 0) == 0 || key.rfind("host_bridges.", 0) == 0;
}

// Empty: it names none, or several.
std::string full_key(const std::string& given) {
  const std::vector<std::string> keys = override_keys();
  // As a configuration is shown: what the host's file has stands below `host`.
  const bool is_shown = given.rfind("host.", 0) == 0;
  const std::string name = is_shown ? given.substr(5) : given;
  if (is_list_key(name) || std::find(keys.begin(), keys.end(), name) != keys.end()) return name;
  std::string found;
  for (const auto& key : keys) {
    if (key.size() <= name.size() + 1 || key[key.size() - name.size() - 1] != '.') continue;
    if (key.compare(key.size() - name.size(), name.size(), name) != 0) continue;
    if (!found.empty()) return {};
    found = key;
  }
  return found;
}

}  // namespace

bool is_config_key(const std::string& key) {
  return !full_key(key).empty();
}

std::string full_override(const std::string& set) {
  const std::string key = set.substr(0, set.find('='));
  const std::string full = full_key(key);
  return full.empty() ? set : full + set.substr(key.size());
}

}  // namespace npu::model
