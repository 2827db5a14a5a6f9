// SPDX-License-Identifier: Apache-2.0
// npusim probe: what a card and its driver can do for who shares them, found by trying.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/simulator.hpp"
#include "workloads/programs/support/capability_probe.hpp"
#include "workloads/programs/support/driver_settings.hpp"

namespace npu::cli {
namespace {

using workloads::Capability;

std::string value_text(const Capability& entry) {
  if (!entry.is_time) return entry.there ? "true" : "false";
  return entry.milliseconds ? fmt::format("{}", *entry.milliseconds) : "null";
}

std::string table_text(const std::vector<Capability>& all) {
  std::string text;
  for (const auto& entry : all) {
    text += fmt::format("{:<32} {:<6} {}", entry.key, value_text(entry), entry.reason);
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text;
}

std::string json_text(const std::vector<Capability>& all, const std::string& config) {
  nlohmann::ordered_json matrix = {{"schema", "npusim.capabilities/1"}, {"config", config}};
  auto reasons = nlohmann::ordered_json::object();
  for (const auto& entry : all) {
    if (!entry.is_time) {
      matrix[entry.key] = entry.there;
    } else if (entry.milliseconds) {
      matrix[entry.key] = *entry.milliseconds;
    } else {
      matrix[entry.key] = nullptr;
    }
    if (!entry.reason.empty()) reasons[entry.key] = entry.reason;
  }
  matrix["reasons"] = reasons;
  return matrix.dump(2) + "\n";
}

}  // namespace

Outcome probe_command(const Options& options) {
  if (auto ok = expect_at_most(0, "probe", options.arguments); !ok) return ok;
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  auto file = OptionFile::open("--output",
                               options.output.empty() ? "capability_matrix.json" : options.output);
  if (!file) return tl::unexpected(file.error());
  const workloads::ParameterSet parameters(workloads::capability_parameters());
  reports::Report scratch;
  std::vector<Capability> found;
  const Status ran = run_on_simulator(*config, [&](Machine& machine) {
    workloads::Context context{machine.platform, parameters,        1, scratch,
                               machine.trace,    machine.simulator, {}};
    context.machine = &*config;
    context.features = workloads::features_of(config->driver.features);
    found = workloads::probe_capabilities(context);
  });
  if (!ran) return failure("probe: " + ran.error().message());
  if (auto written = file->write(json_text(found, options.config)); !written) return written;
  return print(table_text(found));
}

}  // namespace npu::cli
