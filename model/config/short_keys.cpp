// SPDX-License-Identifier: Apache-2.0
#include "model/config/short_keys.hpp"

#include <algorithm>

#include "model/config/key_table.hpp"
#include "model/config/load.hpp"
#include "npu/base/nearest_name.hpp"

namespace npu::model {
namespace {

bool is_list_key(const std::string& key) {
  return key.rfind("cards.", 0) == 0 || key.rfind("host_bridges.", 0) == 0 ||
         key.rfind("fabric.", 0) == 0;
}

// As a configuration is shown: what the host's file has stands below `host`.
constexpr std::string_view kHost = "host.";

bool is_shown(const std::string& key) {
  return key.rfind(kHost, 0) == 0;
}

std::string without_host(const std::string& key) {
  return is_shown(key) ? key.substr(kHost.size()) : key;
}

// Its last parts, so many of them.
std::string tail(const std::string& key, std::ptrdiff_t parts) {
  std::size_t begin = key.size();
  while (parts-- > 0 && begin != std::string::npos && begin != 0) {
    begin = key.rfind('.', begin - 1);
  }
  return begin == std::string::npos || begin == 0 ? key : key.substr(begin + 1);
}

// Empty: it names none, or several.
std::string full_key(const std::string& given) {
  static const std::vector<std::string> kKeys = override_keys();
  const std::string name = without_host(given);
  if (is_list_key(name) || std::find(kKeys.begin(), kKeys.end(), name) != kKeys.end()) return name;
  std::string found;
  for (const auto& key : kKeys) {
    if (key.size() <= name.size() + 1 || key[key.size() - name.size() - 1] != '.') continue;
    if (key.compare(key.size() - name.size(), name.size(), name) != 0) continue;
    if (!found.empty()) return {};
    found = key;
  }
  return found;
}

}  // namespace

std::string nearest_key(const std::string& key) {
  const std::string name = without_host(key);
  const auto parts = std::count(name.begin(), name.end(), '.') + 1;
  // What may be meant by it, and the keys: with all parts and the unit, or without.
  std::vector<std::string> candidates, keys;
  for (const auto& each : override_keys()) {
    const std::string end = tail(each, parts);
    const std::string unit = unit_of(each).suffix;
    for (const auto& candidate : {end, end.substr(0, end.size() - unit.size())}) {
      candidates.push_back(candidate);
      keys.push_back(each);
    }
  }
  const std::string nearest = nearest_name(name, candidates);
  if (nearest.empty()) return {};
  const auto found = std::find(candidates.begin(), candidates.end(), nearest) - candidates.begin();
  const std::string& meant = keys[static_cast<std::size_t>(found)];
  return is_shown(key) ? std::string(kHost) + meant : meant;
}

bool is_config_key(const std::string& key) {
  return !full_key(key).empty();
}

std::string full_override(const std::string& set) {
  const std::string key = set.substr(0, set.find('='));
  const std::string full = full_key(key);
  return full.empty() ? set : full + set.substr(key.size());
}

}  // namespace npu::model
