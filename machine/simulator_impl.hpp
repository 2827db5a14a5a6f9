// SPDX-License-Identifier: Apache-2.0
// What is behind Simulator, for the parts of this library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/composed_machine.hpp"
#include "npu/sim/simulator.hpp"
#include "tools/timeline/chrome_trace.hpp"
#include "tools/timeline/profile.hpp"
#include "workloads/simulator/recorded_file.hpp"

namespace npu::sim {

struct Simulator::Impl : ComposedMachine {
  Impl(const model::SystemConfig& config, std::string name, std::vector<std::string> given)
      : ComposedMachine(config), config_name(std::move(name)), overrides(std::move(given)) {}
  std::string config_name;
  std::vector<std::string> overrides;
  std::unique_ptr<timeline::Profile> recorded;  // null: nothing is
  // Of a timeline that is being written; null: none is.
  std::unique_ptr<workloads::RecordedFile> trace_file;
  std::unique_ptr<timeline::ChromeTrace> trace;
  std::string outcome;  // of a run after which there is no other; empty: there may be
};

}  // namespace npu::sim
