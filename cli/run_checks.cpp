// SPDX-License-Identifier: Apache-2.0
#include "cli/run_checks.hpp"

#include <algorithm>

#include "model/config/load.hpp"
#include "workloads/framework/nearest_name.hpp"

namespace npu::cli {

bool is_parameter(const workloads::Workload& workload, const std::string& key) {
  return std::any_of(workload.parameters.begin(), workload.parameters.end(),
                     [&](const workloads::ParameterSpec& spec) { return spec.name == key; });
}

std::string unknown_key(const workloads::Workload& workload, const std::string& key) {
  std::vector<std::string> known;
  for (const auto& spec : workload.parameters) known.push_back(spec.name);
  const std::vector<std::string> keys = model::override_keys();
  known.insert(known.end(), keys.begin(), keys.end());
  const std::string nearest = workloads::nearest_name(key, known);
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

}  // namespace npu::cli
