// SPDX-License-Identifier: Apache-2.0
// A simulated machine for one host program; hides SystemC from the commands.
#pragma once

#include <functional>

#include "model/config/system_config.hpp"
#include "npu/base/result.hpp"
#include "npu/platform/platform.hpp"
#include "workloads/framework/simulator_view.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::cli {

struct Machine {
  platform::Platform& platform;
  workloads::SimulatorView& simulator;
  workloads::TraceSource& trace;
};

// Who hears all events of a machine, from before its first instant to behind its last.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void begin(workloads::TraceSource& source) = 0;
  virtual void end(workloads::TraceSource& source, const workloads::SimulatorView& simulator) = 0;
};

// Once per process. kTimeout: the program waits for something that cannot happen any more.
Status run_on_simulator(const model::SystemConfig& config,
                        const std::function<void(Machine&)>& program, Listener* listener = nullptr);

}  // namespace npu::cli
