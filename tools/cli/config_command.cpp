// SPDX-License-Identifier: Apache-2.0
#include "model/config/load.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workloads/framework/suggestion.hpp"

namespace npu::cli {

Outcome config_command(const Options& options) {
  const std::vector<std::string> actions{"show", "check", "keys"};
  if (options.arguments.empty()) return bad_input("config: give an action: show, check, keys");
  const std::string& action = options.arguments[0];
  if (action != "show" && action != "check" && action != "keys") {
    return bad_input("config: unknown action '" + shortened(action) + "'" +
                     workloads::suggestion(action, actions));
  }
  const std::size_t most = action == "keys" ? 1 : 2;
  if (auto ok = expect_at_most(most, "config " + action, options.arguments); !ok) return ok;
  if (action == "keys") {
    return print(model::key_reference());
  }
  if (options.arguments.size() == 2 && !options.config.empty()) {
    return bad_input("config " + action + ": both --config and '" +
                     shortened(options.arguments[1]) + "'");
  }
  const std::string& name = options.arguments.size() == 2 ? options.arguments[1] : options.config;
  const auto system = load_config(name, options.sets);
  if (!system) return tl::unexpected(system.error());
  return print(action == "show" ? model::show_system(*system) : name + ": valid\n");
}

}  // namespace npu::cli
