// SPDX-License-Identifier: Apache-2.0
// Runs a workload on the simulated machine. Once per process: the test main gives every test its
// own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/config/load.hpp"
#include "model/system.hpp"
#include "tests/support/folders.hpp"
#include "workloads/framework/counters.hpp"
#include "workloads/framework/registry.hpp"
#include "workloads/simulator/system_view.hpp"

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
    const auto config =
        model::load_system(source_dir() + "/configs/" + name_of_config, overrides, {});
    if (!config) return fail(ErrorCode::kNotFound, config.error().message());
    const auto workload = all_workloads().find(name);
    if (!workload) return forward_error(workload);
    ParameterSet values((*workload)->parameters);
    for (const auto& parameter : parameters) {
      if (auto set = values.assign(parameter); !set) return set;
    }
    model::System system(*config);
    SystemView view(system);
    Status status;
    view.add(measured_);
    const auto ran = system.run([&](platform::Platform& platform) {
      Context context{
          platform, values, 1, report_, view, view, {}, &*config, {source_dir() + "/configs"}};
      status = (*workload)->run(context);
    });
    view.remove(measured_);
    if (!ran) return ran;
    report_.workload = name;
    report_.parameters = values.values();
    for (const auto& each : model::all_values(*config)) {
      report_.configuration.push_back({each.key, {each.value}, each.is_text});
    }
    add_counters(report_, view);
    report_.simulated = view.simulated_time();
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
