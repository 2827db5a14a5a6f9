// SPDX-License-Identifier: Apache-2.0
// Making free device memory contiguous (requirements.md M2), and what that cost.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

// The pause of one compaction in its parts, which add up to it.
struct CompactionReport {
  bool success = false;      // the wanted block is free now
  std::uint64_t blocks = 0;  // moved
  Bytes moved = 0;
  Picoseconds pause;       // submissions were held up for
  Picoseconds plan;        // choosing what to move, while running work goes on
  Picoseconds quiesce;     // from then until everything submitted before was done
  Picoseconds copy;        // device-to-device copies
  Picoseconds remap;       // page table entries written
  Picoseconds invalidate;  // until the card had dropped the old ones
  Picoseconds resume;      // until submissions were let in again
};

struct CompactionStatistics {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;  // runs that could not make room, or whose copies failed
  Bytes moved = 0;
  Picoseconds pause;
  CompactionReport last;
};

}  // namespace npu::driver
