// SPDX-License-Identifier: Apache-2.0
// Runs a workload on the simulated machine. Once per process: the test main gives every test its
// own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/system/support/machine.hpp"

namespace npu::workloads {

class WorkloadOnSimulator : public testing::Test {
 protected:
  // `overrides` of the configuration before the run: "link.generation=3".
  void run(const std::string& name, const std::vector<std::string>& parameters = {},
           const std::vector<std::string>& overrides = {},
           const std::string& name_of_config = "910b.yaml") {
    const auto status = attempt(name, parameters, overrides, name_of_config);
    ASSERT_TRUE(status) << status.error().message();
  }

  // What the workload returns.
  Status attempt(const std::string& name, const std::vector<std::string>& parameters = {},
                 const std::vector<std::string>& overrides = {},
                 const std::string& name_of_config = "910b.yaml") {
    test::Machine machine(overrides, name_of_config);
    machine.tells_configuration = true;
    machine.view.add(measured_);
    auto status = machine.attempt(report_, name, parameters);
    machine.view.remove(measured_);
    for (const auto& each : model::all_values(machine.config())) {
      report_.configuration.push_back({each.key, {each.value}, each.is_text});
    }
    return status;
  }

  // The digits of a metric, without the point: picoseconds of a time in ns.
  std::int64_t digits(const std::string& name) const {
    const auto* metric = report_.find(name);
    if (!metric) ADD_FAILURE() << "no metric " << name;
    return metric ? metric->value.value() : 0;
  }
  double value(const std::string& name) const {
    const auto* metric = report_.find(name);
    return metric ? std::stod(metric->value.text()) : -1;
  }

  // Until when what metrics are made of was measured.
  struct Measured : platform::TraceSink {
    void on_event(const platform::TraceEvent& event) override {
      if (event.activity == platform::Activity::kMeasurement) last = std::max(last, event.end);
    }
    Instant last;
  };

  Report report_;
  Measured measured_;
};

}  // namespace npu::workloads
