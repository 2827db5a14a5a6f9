// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/run_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/config/find_config.hpp"
#include "model/config/short_keys.hpp"
#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

namespace npu::cli {
namespace {

// The configuration, and what the workload reads beside it.
std::vector<std::string> files_read(const Options& options, const workloads::Workload* workload,
                                    const workloads::ParameterSet* parameters) {
  std::vector<std::string> files;
  if (!options.resume.empty()) files.push_back(options.resume);
  const auto config = model::find_config(options.config, config_directories());
  if (config) files.push_back(*config);
  if (workload == nullptr || workload->inputs == nullptr) return files;
  for (auto& each : workload->inputs(*parameters, config_directories())) {
    files.push_back(std::move(each));
  }
  return files;
}

}  // namespace

bool is_parameter(const workloads::Workload& workload, const std::string& key) {
  return std::any_of(workload.parameters.begin(), workload.parameters.end(),
                     [&](const workloads::ParameterSpec& spec) { return spec.name == key; });
}

std::string unknown_key(const workloads::Workload& workload, const std::string& key) {
  std::vector<std::string> parameters;
  for (const auto& spec : workload.parameters) parameters.push_back(spec.name);
  std::string nearest = nearest_name(key, parameters);
  if (nearest.empty()) nearest = model::nearest_key(key);
  return "neither a parameter of " + workload.name + " nor a key of the configuration" +
         (nearest.empty() ? "; see npusim list and npusim config keys"
                          : "; did you mean '" + nearest + "'?");
}

Outcome check_card(const workloads::ParameterSet& parameters, std::size_t cards) {
  for (const auto& value : parameters.values()) {
    if (value.name != "card" || parameters.integer("card") < cards) continue;
    return bad_input("card=" + value.elements.at(0) + ": the machine has cards 0.." +
                     std::to_string(cards - 1));
  }
  return {};
}

Outcome check_files(const Options& options, const workloads::Workload* workload,
                    const workloads::ParameterSet* parameters) {
  for (const auto& [option, path] :
       {std::pair("--report", options.report), std::pair("--html", options.html),
        std::pair("--config-out", options.config_out), std::pair("--trace", options.trace),
        std::pair("--vcd", options.vcd), std::pair("--save", options.save)}) {
    if (path.empty()) continue;
    const std::string given = option + (" " + shortened(path, kShownPath));
    for (const auto& each : files_read(options, workload, parameters)) {
      if (is_same_file(path, each)) return bad_input(given + ": that is a file to be read");
    }
    if (workload == nullptr) continue;
    for (const auto& spec : workload->parameters) {
      if (spec.type != workloads::ParameterType::kText) continue;
      const std::string& text = parameters->choice(spec.name);
      if (text.empty() || !is_same_file(path, text)) continue;
      return bad_input(given + ": --set " + spec.name + " names the same file");
    }
  }
  return {};
}

Outcome without_hazards(const model::SystemConfig& config, const std::string& what,
                        const reports::Report& report) {
  for (std::size_t i = 0; i < config.cards.size(); ++i) {
    if (config.cards[i].core.hazards != model::HazardMode::kFail) continue;
    const auto name = fmt::format("card{}.cores.hazards", i);
    const auto* const counter = report.find_counter(name);
    if (counter == nullptr || counter->value.text() == "0") continue;
    const std::string count = counter->value.text();
    return failure(
        fmt::format("{}: {} hazard{} in programs of card{}'s AI Cores, named in the report", what,
                    count, count == "1" ? "" : "s", i));
  }
  return {};
}

}  // namespace npu::cli
