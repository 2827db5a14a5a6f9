// SPDX-License-Identifier: Apache-2.0
// A simulated machine for one host program; hides SystemC from the commands.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "model/config/system_config.hpp"
#include "npu/base/result.hpp"
#include "npu/driver/management.hpp"
#include "npu/platform/platform.hpp"
#include "workloads/framework/fault_injector.hpp"
#include "workloads/framework/simulator_view.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::gdb {
class Debugger;
}
namespace npu::model {
class System;
}

namespace npu::cli {

struct Machine {
  platform::Platform& platform;
  workloads::SimulatorView& simulator;
  workloads::TraceSource& trace;
  // Its cards, to be looked at from outside, at no simulated time; as long as the machine is there.
  std::function<std::vector<std::unique_ptr<driver::ManagementAccess>>()> probed_cards;
  // Runs what looks at them, and takes none of the host's time although it is the driver's code.
  std::function<void(const std::function<void()>&)> from_outside;
  // CPU time of the current host task.
  std::function<void(Picoseconds)> charge;
  // Simulated time catches up with what the current host task has been charged.
  std::function<void()> settle;
  workloads::FaultInjector& faults;
  // For those that look into the models.
  model::System& system;
};

// Who hears all events of a machine, from before its first instant to behind its last.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void begin(workloads::TraceSource& source) = 0;
  virtual void end(workloads::TraceSource& source, const workloads::SimulatorView& simulator) = 0;
};

// Who looks at a run from time to time.
class Observer {
 public:
  virtual ~Observer() = default;
  // Set by anybody: look() is wanted.
  virtual const std::atomic<bool>& raised() const = 0;
  // Between two events; clears raised(). True: the run is to end here.
  virtual bool look(workloads::SimulatorView& simulator) = 0;
};

// Once per process. kTimeout: the program waits for something that cannot happen any more;
// kAborted: `observer` has ended the run. Then `stopped` is called with what the machine has come
// to, and frames of `program` stay as they are until the process ends. `debugger`: begins before
// `program`; null: there is none.
Status run_on_simulator(const model::SystemConfig& config,
                        const std::function<void(Machine&)>& program,
                        const std::vector<Listener*>& listeners = {}, Observer* observer = nullptr,
                        const std::function<void(workloads::SimulatorView&)>& stopped = {},
                        gdb::Debugger* debugger = nullptr);

}  // namespace npu::cli
