// SPDX-License-Identifier: Apache-2.0
// The one place where a machine is put together: the models of a configuration, the software that
// counts its instructions, and what may be seen of both.
#pragma once

#include "model/system.hpp"
#include "workloads/simulator/counted_software.hpp"
#include "workloads/simulator/system_faults.hpp"
#include "workloads/simulator/system_view.hpp"

namespace npu::sim {

// What driver, firmware and kernels cost.
enum class SoftwareTime {
  kConfigured,    // accesses and counted instructions, as the configuration says
  kAccessesOnly,  // whatever it says: for a card that is driven from outside, and tests of closed
                  // forms
};

// One per process: a SystemC kernel elaborates once. Of `config` workloads::configured_faults() has
// no errors.
struct ComposedMachine {
  explicit ComposedMachine(const model::SystemConfig& config,
                           SoftwareTime software = SoftwareTime::kConfigured)
      : system(config) {
    if (software == SoftwareTime::kConfigured) workloads::count_software(system);
    faults.schedule_configured();
  }

  platform::Bdf card(unsigned index, unsigned function = 0) {
    return platform::Bdf::unpack(system.fabric().endpoint(index).requester(function));
  }

  model::System system;
  workloads::SystemView view{system};
  workloads::SystemFaults faults{system};
};

}  // namespace npu::sim
