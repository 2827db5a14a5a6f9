// SPDX-License-Identifier: Apache-2.0
// The time that spans cover together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::timeline {

struct TimeSpan {
  std::int64_t begin, end;  // ps
};

// Of spans in the order of their begins.
class BusyTime {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    begin = std::max(begin, until_);
    if (end <= begin) return;
    time_ += end - begin;
    until_ = end;
  }
  Picoseconds time() const { return Picoseconds(time_); }

 private:
  std::int64_t time_ = 0, until_ = 0;
};

// Of spans in any order.
inline Picoseconds covered(std::vector<TimeSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
  BusyTime busy;
  for (const auto& span : spans) busy.add(span.begin, span.end);
  return busy.time();
}

}  // namespace npu::timeline
