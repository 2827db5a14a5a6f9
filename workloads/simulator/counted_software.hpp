// SPDX-License-Identifier: Apache-2.0
// Joins software that counts its instructions (counting/) with the machine it runs on: the driver
// that this process has loaded, and the twins of the programs of the card that npusim brings along.
#pragma once

#include "model/system.hpp"

namespace npu::workloads {

// Before the machine runs, as its configuration says. Software that does not count takes the time
// of its accesses alone.
void count_software(model::System& system);

// The twins alone: they are run, and what they execute takes no time.
void add_counted_programs(model::System& system);

struct CountedProgram {
  const std::byte *begin, *end;                  // of the program
  const std::byte *counted_begin, *counted_end;  // of its twin
};
const std::vector<CountedProgram>& counted_programs();  // none in a build that does not count

}  // namespace npu::workloads
