// SPDX-License-Identifier: Apache-2.0
// What a kernel's set-up takes beside its instructions and loads.
#pragma once

#include <algorithm>

#include "model/config/core_layout.hpp"
#include "model/config/program_core_config.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

// Turns of cores that read the same lines at one time (hardware.md H60): of all whose blocks begin
// with the launch, and of the others of their clusters. A later block begins when another has
// ended.
inline unsigned turns_of(const platform::SetUp& set_up, const platform::KernelCall& call,
                         const CoreLayout& layout, abi::CoreType type) {
  const bool alone = type == abi::CoreType::kAiv && call.role == 0;
  const unsigned places = alone ? layout.cores() - layout.clusters() : layout.clusters();
  const unsigned others = set_up.mixed ? layout.cores() / layout.clusters() - 1 : 0;
  const unsigned own = set_up.tiling == platform::Tiling::kRunTime ? 1 : 0;
  return (own + others) * (call.block < places ? std::min(call.blocks, places) : 1);
}

// The tiling is a known one.
inline Picoseconds set_up_time(const SetUpConfig& costs, const platform::SetUp& set_up,
                               unsigned turns, abi::CoreType type) {
  const Picoseconds of_tiling[platform::kTilings] = {Picoseconds{}, costs.arguments, costs.constant,
                                                     costs.run_time};
  Picoseconds time = of_tiling[static_cast<std::size_t>(set_up.tiling)] + costs.turn * turns;
  if (set_up.pipe) time += type == abi::CoreType::kAiv ? costs.vector_pipe : costs.cube_pipe;
  if (set_up.mixed) time += costs.mixed;
  return time;
}

}  // namespace npu::model
