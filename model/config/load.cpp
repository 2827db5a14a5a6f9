// SPDX-License-Identifier: Apache-2.0
#include "model/config/load.hpp"

#include "model/config/checks.hpp"
#include "model/config/find_config.hpp"
#include "model/config/reader.hpp"

namespace npu::model {
namespace {

// The key as its file spells it: "cards.2.link.lanes" stands there as "link.lanes".
std::string local_key(const std::string& key) {
  const std::string prefix = "cards.";
  if (key.compare(0, prefix.size(), prefix) != 0) return key;
  return key.substr(key.find('.', prefix.size()) + 1);
}

ConfigError to_error(const BrokenRule& broken, const SourceMap& sources, const std::string& file) {
  const auto place = sources.find(broken.key);
  return error_at(place == sources.end() ? SourcePlace{file, 0, 0} : place->second,
                  local_key(broken.key), broken.text);
}

}  // namespace

ConfigResult<SystemConfig> load_system(const std::string& path_or_name,
                                       const std::vector<std::string>& overrides,
                                       const std::vector<std::string>& search_paths) {
  const auto path = find_config(path_or_name, search_paths);
  if (!path) return tl::unexpected(path.error());
  auto given = Overrides::parse(overrides);
  if (!given) return tl::unexpected(given.error());
  const auto document = read_yaml_file(*path);
  if (!document) return tl::unexpected(document.error());
  Reader reader(*given, search_paths);
  auto system = reader.read(*document);
  if (!system) return system;
  if (const auto broken = check_system(*system)) {
    return tl::unexpected(to_error(*broken, reader.sources(), *path));
  }
  return system;
}

}  // namespace npu::model
