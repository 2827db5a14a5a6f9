// SPDX-License-Identifier: Apache-2.0
// What is behind Simulator, for the parts of this library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/system.hpp"
#include "npu/sim/simulator.hpp"
#include "tools/timeline/profile.hpp"
#include "workloads/simulator/counted_software.hpp"

namespace npu::sim {

struct Simulator::Impl {
  Impl(const model::SystemConfig& config, std::string name, std::vector<std::string> given)
      : system(config), config_name(std::move(name)), overrides(std::move(given)) {
    workloads::count_software(system);
  }
  model::System system;
  std::string config_name;
  std::vector<std::string> overrides;
  std::unique_ptr<timeline::Profile> recorded;  // null: nothing is
  std::string outcome;  // of a run after which there is no other; empty: there may be
};

}  // namespace npu::sim
