// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "model/aicore/core_events.hpp"
#include "model/core/agenda.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

// What a core has done with programs since elaboration; times in ps. What its pipes have taken in
// counts, even where it ends a little later.
struct ProgramCoreStatistics {
  std::uint64_t blocks = 0;   // launched
  std::uint64_t kernels = 0;  // run by invoke()
  std::uint64_t faults = 0;
  SimTime running = 0;                                         // blocks, from start to end
  std::array<std::uint64_t, platform::kPipes> instructions{};  // by Pipe
  std::uint64_t executed = 0;  // instructions of programs that count them
  std::array<SimTime, platform::kPipes> busy{};
  std::array<SimTime, platform::kPipes> flag_wait{};  // an entry was first and waited for a flag
  std::array<Bytes, platform::kPipes> bytes{};        // from and to global memory
  SimTime queue_full = 0;                             // the scalar unit waited for room in a pipe
  SimTime memory_wait = 0;                            // the scalar unit waited for its own accesses
  std::uint64_t requests = 0;
  std::uint64_t cache_hits = 0, cache_misses = 0;
  std::uint64_t code_lines = 0;         // of the instruction cache that blocks of code ran through
  std::uint64_t code_misses = 0;        // that it did not hold
  std::uint64_t polls_passed_over = 0;  // rounds of poll loops
  CoreEventCounts events;               // for the PMU
};

}  // namespace npu::model
