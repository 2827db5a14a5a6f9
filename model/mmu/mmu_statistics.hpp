// SPDX-License-Identifier: Apache-2.0
// What an MMU has done since the start; resets do not clear it.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

struct MmuStatistics {
  std::uint64_t hits = 0;             // requests whose translation was in the TLB
  std::uint64_t misses = 0;           // requests that waited for a walk
  std::uint64_t walks = 0;            // walks started
  std::uint64_t entries_read = 0;     // reads of table and context entries
  std::uint64_t walk_cache_hits = 0;  // walks that began below the context table
  std::uint64_t not_mapped = 0;       // requests that failed, by kind
  std::uint64_t forbidden = 0;
  std::uint64_t bad_table = 0;
  std::uint64_t faults_kept = 0;    // requests that waited to be served instead
  std::uint64_t invalidations = 0;  // through MMU_INVALIDATE, done
  Picoseconds walking{0};           // sum over the walks, without the wait for a walker

  std::uint64_t faults() const { return not_mapped + forbidden + bad_table; }
};

}  // namespace npu::model
