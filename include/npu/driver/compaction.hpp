// SPDX-License-Identifier: Apache-2.0
// The result and cost of Device::compact(), which makes free memory contiguous (requirements.md
// M2).
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

// One compaction. The parts of the pause add up to it.
struct CompactionReport {
  bool success = false;      // the requested bytes are free in one piece
  std::uint64_t blocks = 0;  // moved
  Bytes moved = 0;
  Picoseconds pause;       // during which submissions waited
  Picoseconds plan;        // choosing blocks, while running work continues
  Picoseconds quiesce;     // from then until all earlier submissions were complete
  Picoseconds copy;        // device-to-device copies
  Picoseconds remap;       // writing page table entries
  Picoseconds invalidate;  // until the card had dropped the old ones
  Picoseconds resume;      // until submissions could continue
};

struct CompactionStatistics {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;  // runs without success
  Bytes moved = 0;
  Picoseconds pause;
  CompactionReport last;
};

}  // namespace npu::driver
