// SPDX-License-Identifier: Apache-2.0
// Faults that the command line (--fault) and the configuration (faults) ask for, and what the
// report says of them.
#pragma once

#include <vector>

#include "model/config/system_config.hpp"
#include "tools/cli/failure.hpp"
#include "tools/cli/options.hpp"
#include "tools/reports/report.hpp"
#include "workloads/framework/fault_injector.hpp"
#include "workloads/framework/fault_text.hpp"

namespace npu::cli {

class PlannedFaults {
 public:
  static tl::expected<PlannedFaults, Failure> parse(const Options& options,
                                                    const model::SystemConfig& config);

  // Those of the command line, before the program of the host begins; the machine has the others.
  // Errors are those of FaultInjector::inject().
  Status inject(workloads::FaultInjector& injector) const;
  // A table of them, if there are any; those that have met nothing by now are told.
  void report(reports::Report& report, const workloads::FaultInjector& injector) const;

 private:
  std::vector<workloads::PlannedFault> given_, configured_;
};

}  // namespace npu::cli
