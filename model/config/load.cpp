// SPDX-License-Identifier: Apache-2.0
#include "model/config/load.hpp"

#include "model/config/broken_rule.hpp"
#include "model/config/find_config.hpp"
#include "model/config/reader.hpp"

namespace npu::model {

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
    return tl::unexpected(explain(*broken, *system, reader.sources(), *path, search_paths));
  }
  return system;
}

}  // namespace npu::model
