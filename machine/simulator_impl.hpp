// SPDX-License-Identifier: Apache-2.0
// What is behind Simulator, for the parts of this library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/composed_machine.hpp"
#include "npu/sim/simulator.hpp"
#include "tools/timeline/profile.hpp"

namespace npu::sim {

struct Simulator::Impl : ComposedMachine {
  Impl(const model::SystemConfig& config, std::string name, std::vector<std::string> given)
      : ComposedMachine(config), config_name(std::move(name)), overrides(std::move(given)) {}
  std::string config_name;
  std::vector<std::string> overrides;
  std::unique_ptr<timeline::Profile> recorded;  // null: nothing is
  std::string outcome;  // of a run after which there is no other; empty: there may be
};

}  // namespace npu::sim
