// SPDX-License-Identifier: Apache-2.0
// What is behind Simulator, for the parts of this library.
#pragma once

#include "model/system.hpp"
#include "npu/sim/simulator.hpp"

namespace npu::sim {

struct Simulator::Impl {
  explicit Impl(const model::SystemConfig& config) : system(config) {}
  model::System system;
  bool stuck = false;
};

}  // namespace npu::sim
