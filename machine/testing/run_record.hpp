// SPDX-License-Identifier: Apache-2.0
// The report of a test: the machine's counters, the test's own figures, and what was never freed.
#pragma once

#include <string>
#include <vector>

#include "machine/simulator_impl.hpp"
#include "npu/testing/leaks.hpp"
#include "tools/reports/report.hpp"

namespace npu::testkit {

class RunRecord {
 public:
  explicit RunRecord(sim::Simulator::Impl& simulator) : simulator_(simulator) {}

  // As Machine::add_metric().
  Status add(const std::string& name, std::int64_t value, unsigned decimals,
             const std::string& unit);
  // The machine is at the caller's time.
  std::string report(const std::string& name, const std::string& outcome,
                     const std::vector<Leak>& leaks) const;

 private:
  sim::Simulator::Impl& simulator_;
  std::vector<reports::Metric> metrics_;
};

}  // namespace npu::testkit
