// SPDX-License-Identifier: Apache-2.0
// What an L2 has done since the start; resets do not clear it.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

struct L2Statistics {
  std::uint64_t requests = 0;
  Bytes bytes_read = 0;  // that the cores asked for
  Bytes bytes_written = 0;
  std::uint64_t read_hits = 0;    // lines
  std::uint64_t read_merged = 0;  // lines that were on their way already
  std::uint64_t read_misses = 0;
  std::uint64_t write_hits = 0;  // lines on their way included
  std::uint64_t write_misses = 0;
  std::uint64_t fetches = 0;      // lines asked of the HBM
  std::uint64_t write_backs = 0;  // dirty lines sent to the HBM
  std::uint64_t snooped = 0;      // lines dropped because others wrote them
  Picoseconds busy{0};            // moving bytes, summed over the slices
  Picoseconds queued{0};          // lines waited for their slice, summed
  Picoseconds blocked{0};         // requests waited for a miss or write buffer, summed
};

}  // namespace npu::model
