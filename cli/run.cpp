// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <optional>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/report_file.hpp"
#include "cli/simulator.hpp"
#include "model/config/load.hpp"
#include "workloads/framework/nearest_name.hpp"
#include "workloads/framework/registry.hpp"
#include "workloads/framework/report_json.hpp"
#include "workloads/framework/report_text.hpp"

namespace npu::cli {
namespace {

using workloads::ParameterSet;
using workloads::Workload;

bool is_list_key(const std::string& key) {
  return key.rfind("cards.", 0) == 0 || key.rfind("host_bridges.", 0) == 0;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  for (const auto& each : names) {
    if (each == name) return true;
  }
  return false;
}

// The one key of the configuration whose last part is `name`; empty: none, or several.
std::string full_key(const std::string& name, const std::vector<std::string>& keys) {
  std::string found;
  for (const auto& key : keys) {
    if (key.size() <= name.size() + 1 || key[key.size() - name.size() - 1] != '.') continue;
    if (key.compare(key.size() - name.size(), name.size(), name) != 0) continue;
    if (!found.empty()) return {};
    found = key;
  }
  return found;
}

// Gives parameters their values and returns what is left for the configuration.
tl::expected<std::vector<std::string>, Failure> apply_parameters(const Workload& workload,
                                                                 const Options& options,
                                                                 ParameterSet& parameters) {
  std::vector<std::string> names;
  for (const auto& spec : workload.parameters) names.push_back(spec.name);
  const std::vector<std::string> keys = model::override_keys();
  std::vector<std::string> given, overrides;
  for (const auto& set : options.sets) {
    const std::string key = set.substr(0, set.find('='));
    if (key.size() == set.size()) {
      return bad_input("--set " + set + ": not of the form key=value");
    }
    if (!contains(names, key)) {
      if (const auto full = full_key(key, keys); !contains(keys, key) && !full.empty()) {
        overrides.push_back(full + set.substr(key.size()));
        continue;
      }
      if (!contains(keys, key) && !is_list_key(key)) {
        std::vector<std::string> known = names;
        known.insert(known.end(), keys.begin(), keys.end());
        const std::string nearest = workloads::nearest_name(key, known);
        return bad_input("--set " + set + ": neither a parameter of " + workload.name +
                         " nor a key of the configuration" +
                         (nearest.empty() ? "; see npusim list and npusim config keys"
                                          : "; did you mean '" + nearest + "'?"));
      }
      overrides.push_back(set);
      continue;
    }
    if (contains(given, key)) return bad_input("--set " + set + ": '" + key + "' is set twice");
    given.push_back(key);
    const Status assigned = parameters.assign(set);
    if (!assigned) return bad_input("--set " + set + ": " + assigned.error().context);
  }
  return overrides;
}

Outcome simulate(const Workload& workload, const model::SystemConfig& config,
                 const ParameterSet& parameters, workloads::Report& report) {
  ProgressLine progress;
  std::optional<Status> result;
  const Status ran = run_on_simulator(config, [&](Machine& machine) {
    bool functional = true;
    for (const auto& card : config.cards) functional = functional && card.core.functional;
    workloads::Context context{machine.platform,
                               parameters,
                               report.seed,
                               report,
                               machine.trace,
                               machine.simulator,
                               [&](std::string_view what, std::uint64_t done, std::uint64_t total) {
                                 progress.show(what, done, total);
                               },
                               &config,
                               config_directories(),
                               functional};
    result = workload.run(context);
    report.simulated = machine.simulator.simulated_time();
  });
  if (!ran) return failure(workload.name + ": " + ran.error().message());
  if (!*result) return failure(workload.name + ": " + result->error().message());
  return {};
}

}  // namespace

Outcome run_workload(const Options& options) {
  if (options.arguments.empty()) return bad_input("run: give a workload; see npusim list");
  if (options.arguments.size() > 1) {
    return bad_input("run: unexpected '" + options.arguments[1] + "'");
  }
  const auto found = workloads::all_workloads().find(options.arguments[0]);
  if (!found) return bad_input(found.error().context);
  const Workload& workload = **found;
  ParameterSet parameters(workload.parameters);
  const auto overrides = apply_parameters(workload, options, parameters);
  if (!overrides) return tl::unexpected(overrides.error());
  if (workload.check != nullptr) {
    const Status usable = workload.check(parameters, config_directories());
    if (!usable) return bad_input(usable.error().context);
  }
  const auto config = load_config(options.config, *overrides);
  if (!config) return tl::unexpected(config.error());
  auto file = ReportFile::open(options.report);
  if (!file) return tl::unexpected(file.error());

  workloads::Report report;
  report.workload = workload.name;
  report.config = options.config;
  report.seed = options.seed;
  report.parameters = parameters.texts();
  if (auto done = simulate(workload, *config, parameters, report); !done) {
    file->discard();
    return done;
  }
  std::fputs(to_text(report).c_str(), stdout);
  return file->write(to_json(report));
}

}  // namespace npu::cli
