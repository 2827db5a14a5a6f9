// SPDX-License-Identifier: Apache-2.0
// What the cores of a card share.
#pragma once

#include <vector>

#include "model/aicore/cross_flags.hpp"
#include "model/aicore/hazards/hazards.hpp"
#include "model/aicore/instruction_times.hpp"
#include "model/config/core_layout.hpp"
#include "model/core/device_memory_port.hpp"
#include "model/core/program_loader.hpp"
#include "model/core/simulation.hpp"

namespace npu::model {

struct ProgramServices {
  Simulation& sim;
  const ProgramCoreConfig& config;
  const CoreConfig& launch;
  const CoreLayout layout;
  DeviceMemoryPort& memory;
  MemoryWatch& watch;
  CoreClock clock;
  ProgramLoader loader;
  CrossFlags cross_flags;
  Hazards hazards;
  bool naive_polling = false;
  std::vector<std::vector<unsigned>> cores_of;  // by function, as its software numbers them
};

}  // namespace npu::model
