// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "model/config/load.hpp"
#include "model/config/short_keys.hpp"
#include "tools/cli/commands.hpp"
#include "workloads/simulator/fault_checks.hpp"

namespace npu::cli {

std::vector<std::string> config_directories() {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (code) return {};
  std::vector<std::string> found;
  // PREFIX/bin/npusim -> PREFIX/share/npusim/configs; TREE/build/PRESET/bin/npusim -> TREE/configs
  for (const auto* place : {"../share/npusim/configs", "../../../configs"}) {
    const fs::path folder = (program.parent_path() / place).lexically_normal();
    if (fs::is_directory(folder, code)) found.push_back(folder.string());
  }
  return found;
}

tl::expected<model::SystemConfig, Failure> load_config(const std::string& name,
                                                       const std::vector<std::string>& overrides) {
  if (name.empty()) return bad_input("--config is missing: give a chip or system file, e.g. 910b2");
  std::vector<std::string> full;
  full.reserve(overrides.size());
  for (const auto& each : overrides) full.push_back(model::full_override(each));
  auto system = model::load_system(name, full, config_directories());
  if (!system) return bad_input(system.error().message());
  const auto faults = workloads::configured_faults(*system);
  if (!faults) return bad_input(faults.error().context);
  return std::move(*system);
}

}  // namespace npu::cli
