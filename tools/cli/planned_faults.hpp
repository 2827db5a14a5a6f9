// SPDX-License-Identifier: Apache-2.0
// Faults that the command line asks for (--fault), and what the report says of them.
#pragma once

#include <vector>

#include "tools/cli/failure.hpp"
#include "tools/cli/options.hpp"
#include "tools/reports/report.hpp"
#include "workloads/framework/fault_injector.hpp"
#include "workloads/framework/fault_text.hpp"

namespace npu::cli {

class PlannedFaults {
 public:
  static tl::expected<PlannedFaults, Failure> parse(const Options& options);

  // Before the program of the host begins. Errors are those of FaultInjector::inject().
  Status inject(workloads::FaultInjector& injector) const;
  // A table of them, if there are any; those that have met nothing by now are told.
  void report(reports::Report& report, const workloads::FaultInjector& injector) const;

 private:
  std::vector<workloads::PlannedFault> faults_;
};

}  // namespace npu::cli
