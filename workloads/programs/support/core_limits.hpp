// SPDX-License-Identifier: Apache-2.0
// What the cores of a chip can, for the host's choice of tiles.
#pragma once

#include "kernels/operators/launcher/launcher.hpp"
#include "model/config/system_config.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

inline operators::CoreLimits core_limits(const model::ChipConfig& chip) {
  operators::CoreLimits limits;
  limits.l1 = chip.core.l1;
  limits.l0a = chip.core.l0a;
  limits.l0b = chip.core.l0b;
  limits.l0c = chip.core.l0c;
  limits.ub = chip.core.ub;
  limits.l2 = chip.l2.size;
  limits.local_ways = chip.core.l0c_to_ub.per_clock != 0 && chip.core.ub_to_l1.per_clock != 0;
  limits.fixpipe_to_l1 = chip.core.l0c_to_l1.per_clock != 0;
  limits.fixpipe_bf16 = chip.core.fixpipe_bf16;
  limits.vector_functions = chip.core.vector.function.ports != 0;
  return limits;
}

// Of the card that the parameters name, or `unknown` if the machine is not a simulated one.
inline operators::CoreLimits core_limits(const Context& context,
                                         const operators::CoreLimits& unknown) {
  const auto card = context.parameters.integer("card");
  const bool known = context.machine != nullptr && card < context.machine->cards.size();
  return known ? core_limits(context.machine->cards[card]) : unknown;
}

}  // namespace npu::workloads
