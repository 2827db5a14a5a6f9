// SPDX-License-Identifier: Apache-2.0
// The turns that lines of one request have in their slices.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/l2/l2_slice.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

// How long bytes of one line occupy its slice.
class LineTimes {
 public:
  explicit LineTimes(const L2Config& config)
      : line_(config.line), per_clock_(config.slice_per_clock), hz_(config.clock_hz) {
    whole_ = counted(line_);
  }
  SimTime of(Bytes bytes) const { return bytes == line_ ? whole_ : counted(bytes); }

 private:
  SimTime counted(Bytes bytes) const {
    if (per_clock_ == 0) return 0;
    return ceil_div(ceil_div(bytes, per_clock_) * 1'000'000'000'000, hz_);
  }

  Bytes line_;
  std::uint64_t per_clock_, hz_;
  SimTime whole_ = 0;
};

// Of those that are looked up together.
struct LineTurns {
  SimTime earliest = 0;  // that one begins
  SimTime behind = 0;    // from the end of one to the response
  Bytes bytes = 0;       // of the present line, and its time
  SimTime time = 0;
  SimTime longest = 0, latest = 0;  // time; end
  SimTime queued = 0, busy = 0;     // summed
  std::uint32_t hits = 0, merged = 0;

  // A turn of `count` bytes in `slice`; when it begins.
  SimTime occupy(L2Slice& slice, Bytes count, const LineTimes& times) {
    if (count != bytes) {
      bytes = count;
      time = times.of(count);
      longest = std::max(longest, time);
    }
    const SimTime start = slice.occupy(earliest, time);
    queued += start - earliest;
    busy += time;
    latest = std::max(latest, start + time);
    return start;
  }
};

}  // namespace npu::model
