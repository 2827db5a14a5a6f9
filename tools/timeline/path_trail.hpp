// SPDX-License-Identifier: Apache-2.0
// A critical path as it is found, from its end back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::timeline {

struct PathSegment {
  Instant begin, end;
  std::string name;         // "data_write", "software in dma_submit", "command to data_read"
  std::string unit;         // track; empty between units
  bool in_program = false;  // of an AI Core
};

class PathTrail {
 public:
  explicit PathTrail(std::int64_t end) : now_(end) {}

  // What is found reaches back to here; ps.
  std::int64_t now() const { return now_; }
  // [begin, now()) is a segment; nothing if that is empty.
  void take(std::int64_t begin, std::string name, std::string unit) {
    begin = std::max<std::int64_t>(begin, 0);
    if (begin >= now_) return;
    segments_.push_back({Instant(Picoseconds(begin)), Instant(Picoseconds(now_)), std::move(name),
                         std::move(unit), in_program_});
    now_ = begin;
  }
  // Whether what is found next happens in a program of an AI Core.
  void set_in_program(bool in_program) { in_program_ = in_program; }
  // In the order of time.
  std::vector<PathSegment> finish() {
    std::reverse(segments_.begin(), segments_.end());
    return std::move(segments_);
  }

 private:
  std::int64_t now_;
  bool in_program_ = false;
  std::vector<PathSegment> segments_;
};

}  // namespace npu::timeline
