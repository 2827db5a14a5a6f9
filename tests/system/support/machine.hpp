// SPDX-License-Identifier: Apache-2.0
// A whole simulated machine from a shipped configuration, for the real driver and the workloads.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/composed_machine.hpp"
#include "model/config/load.hpp"
#include "npu/driver/device.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/framework/counters.hpp"
#include "workloads/framework/registry.hpp"
#include "workloads/programs/support/driver_settings.hpp"

namespace npu::test {

inline model::SystemConfig load(const std::string& name,
                                const std::vector<std::string>& overrides = {}) {
  return must(model::load_system(source_dir() + "/configs/" + name, overrides, {}));
}

// One per test: SystemC elaborates once per process.
class Machine : public sim::ComposedMachine {
 public:
  explicit Machine(const std::vector<std::string>& overrides = {},
                   const std::string& name = "910b.yaml")
      : ComposedMachine(load(name, overrides), sim::SoftwareTime::kAccessesOnly) {}
  // A template, so that braces are overrides.
  template <class Config, class = std::enable_if_t<std::is_same_v<Config, model::SystemConfig>>>
  explicit Machine(const Config& config)
      : ComposedMachine(config, sim::SoftwareTime::kAccessesOnly) {}

  // What workloads get for the machine's platform, if it is not that itself.
  std::function<platform::Platform&(platform::Platform&)> decorate;
  bool tells_configuration = false;  // to workloads, as npusim does

  const model::SystemConfig& config() const { return system.config(); }
  const model::ChipConfig& chip() const { return system.config().cards[0]; }

  // Runs `body` as the main host task to its end.
  template <class F>
  void run(F body) {
    bool ended = false;
    const Status status = system.run([&](platform::Platform& host) {
      body(host);
      ended = true;
    });
    EXPECT_TRUE(status) << status.error().message();
    EXPECT_TRUE(ended);
  }
  // The same with a T of the platform: Machine().on<FaultBench>([](FaultBench& bench) { ... });
  template <class T, class F>
  void on(F body) {
    run([&](platform::Platform& host) {
      T made(host);
      body(made);
    });
  }
  template <class T, class Options, class F>
  void on(const Options& options, F body) {
    run([&](platform::Platform& host) {
      T made(host, options);
      body(made);
    });
  }

  // Runs a workload with "key=value" parameters into a report. What it or its parameters say.
  Status attempt(reports::Report& report, const std::string& name,
                 const std::vector<std::string>& values = {}, std::uint64_t seed = 1) {
    report.workload = name;
    report.seed = seed;
    const auto found = workloads::all_workloads().find(name);
    if (!found) return forward_error(found);
    workloads::ParameterSet parameters((*found)->parameters);
    for (const auto& value : values) {
      if (auto set = parameters.assign(value); !set) return set;
    }
    Status status;
    run([&](platform::Platform& machine_host) {
      auto& host = decorate ? decorate(machine_host) : machine_host;
      workloads::Context context{host,
                                 parameters,
                                 seed,
                                 report,
                                 view,
                                 view,
                                 {},
                                 tells_configuration ? &config() : nullptr,
                                 {source_dir() + "/configs"}};
      context.functional = chip().core.functional;
      if (tells_configuration) context.features = workloads::features_of(config().driver.features);
      context.faults = &faults;
      status = (*found)->run(context);
      add_counters(report, view);
      report.simulated = view.simulated_time();
    });
    report.parameters = parameters.values();
    return status;
  }

  // The same; its error fails the test.
  reports::Report workload(const std::string& name, const std::vector<std::string>& values = {},
                           std::uint64_t seed = 1) {
    reports::Report report;
    const auto status = attempt(report, name, values, seed);
    EXPECT_TRUE(status) << status.error().message();
    return report;
  }
};

// A metric in units of its last printed digit, as a double in its own unit.
inline double metric(const reports::Report& report, const std::string& name) {
  const auto* found = report.find(name);
  if (!found) {
    ADD_FAILURE() << "no metric " << name;
    return 0;
  }
  return std::stod(found->value.text());
}

// The same as an exact count of its last digit: picoseconds for a metric in ns.
inline std::int64_t exact(const reports::Report& report, const std::string& name) {
  const auto* found = report.find(name);
  if (!found) {
    ADD_FAILURE() << "no metric " << name;
    return 0;
  }
  return found->value.value();
}

inline std::unique_ptr<driver::Device> open_card(platform::Platform& host, std::uint32_t index = 0,
                                                 const driver::DeviceOptions& options = {}) {
  return must(driver::Device::open_index(host, index, options));
}

}  // namespace npu::test
