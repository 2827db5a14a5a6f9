// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/driver_instructions.hpp"

// Of the driver, if it is a library that counts.
extern "C" __attribute__((weak, visibility("default"))) const std::uint64_t*
npu_instruction_counter();

namespace npu::workloads {

void follow_driver(model::System& system) {
  system.cpus().executed().follow(npu_instruction_counter != nullptr ? npu_instruction_counter()
                                                                     : nullptr);
}

}  // namespace npu::workloads
