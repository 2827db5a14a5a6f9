// SPDX-License-Identifier: Apache-2.0
// What an HBM did, summed over its channels and pseudo channels since the start of simulation.
// The difference of two of them is what it did in between.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

struct HbmStatistics {
  std::uint64_t bursts_read = 0;
  std::uint64_t bursts_written = 0;
  std::uint64_t row_hits = 0;    // bursts served without an ACT of their own
  std::uint64_t row_misses = 0;  // the others
  std::uint64_t activates = 0;
  std::uint64_t precharges = 0;  // PRE and PREab
  std::uint64_t refreshes = 0;   // REF and REFpb

  // Time of the pseudo channels' data buses, as model/hbm/bus_account.hpp attributes each clock.
  // The six add up to total(), the elapsed time times the number of pseudo channels, except that a
  // slot in flight counts as a whole and each value is rounded down to picoseconds.
  Picoseconds data;
  Picoseconds refresh;     // refresh due or in flight
  Picoseconds turnaround;  // from reads to writes or back
  Picoseconds row;         // waiting for PRE, ACT, tRCD, tFAW or the row command bus
  Picoseconds column;      // rows open, but tCCD_L or the column command bus in the way
  Picoseconds idle;        // nothing queued for the pseudo channel

  Picoseconds total() const { return data + refresh + turnaround + row + column + idle; }

  friend HbmStatistics operator-(HbmStatistics a, const HbmStatistics& b) {
    a.bursts_read -= b.bursts_read;
    a.bursts_written -= b.bursts_written;
    a.row_hits -= b.row_hits;
    a.row_misses -= b.row_misses;
    a.activates -= b.activates;
    a.precharges -= b.precharges;
    a.refreshes -= b.refreshes;
    a.data -= b.data;
    a.refresh -= b.refresh;
    a.turnaround -= b.turnaround;
    a.row -= b.row;
    a.column -= b.column;
    a.idle -= b.idle;
    return a;
  }
};

}  // namespace npu::model
