// SPDX-License-Identifier: Apache-2.0
// What a workload gets to work with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npu/driver/device.hpp"
#include "npu/platform/platform.hpp"
#include "workloads/framework/fault_injector.hpp"
#include "workloads/framework/parameter.hpp"
#include "workloads/framework/random.hpp"
#include "workloads/framework/reporting.hpp"
#include "workloads/framework/simulator_view.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::model {
struct SystemConfig;
}

namespace npu::workloads {

// Told now and then how far the workload is; done <= total. It may draw on a terminal and must
// not touch the platform.
using Progress =
    std::function<void(std::string_view what, std::uint64_t done, std::uint64_t total)>;

struct Context {
  platform::Platform& platform;
  const ParameterSet& parameters;
  std::uint64_t seed;
  Report& report;
  TraceSource& trace;
  const SimulatorView& simulator;
  Progress progress;  // may be empty
  // For programs that study a model by itself: the simulated machine's configuration (null: there
  // is none) and where the files of configs/ are.
  const model::SystemConfig* machine = nullptr;
  std::vector<std::string> config_directories = {};
  bool functional = true;  // the AI Cores compute; off: only time passes, and results mean nothing
  // Whether the run is to end: for what takes wall time and no simulated time. May be empty.
  std::function<bool()> interrupted = {};
  // The function to work on instead of the card that the parameters name: a virtual one.
  std::optional<platform::Bdf> function = {};
  driver::DeviceFeatures features = {};  // what the driver may do
  // Of the platform's clock: how long the driver, and a wait that should end at once, may take.
  // None: the driver's own limits, and 10 s.
  std::optional<Picoseconds> patience = {};
  FaultInjector* faults = nullptr;  // null: this machine cannot have any

  void step(std::string_view what, std::uint64_t done, std::uint64_t total) const {
    if (progress) progress(what, done, total);
  }
  // A generator of its own for each purpose, so that one more draw here changes nothing there.
  Random random(std::uint64_t purpose = 0) const { return Random(seed * 0x10001 + purpose); }
};

}  // namespace npu::workloads
