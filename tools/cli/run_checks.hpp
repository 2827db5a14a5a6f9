// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a run before anything is simulated, of `run` and of every point of
// `sweep`; and, behind it, with what its programs did.
#pragma once

#include <cstddef>
#include <string>

#include "model/config/system_config.hpp"
#include "tools/cli/failure.hpp"
#include "tools/cli/options.hpp"
#include "tools/reports/report.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::cli {

bool is_parameter(const workloads::Workload& workload, const std::string& key);

// The words on a key that is neither a parameter of the workload nor of the configuration.
std::string unknown_key(const workloads::Workload& workload, const std::string& key);

// A card that the machine, with `cards` of them, has not; every workload with one card has it as
// this parameter.
Outcome check_card(const workloads::ParameterSet& parameters, std::size_t cards);

// A file of --report, --trace and the like that is read, too (the configuration, a graph), or that
// a parameter names. Without a workload both are null.
Outcome check_files(const Options& options, const workloads::Workload* workload,
                    const workloads::ParameterSet* parameters);

// With core.hazards=fail: the report counts none. `what`: the workload, or exec.
Outcome without_hazards(const model::SystemConfig& config, const std::string& what,
                        const reports::Report& report);

}  // namespace npu::cli
