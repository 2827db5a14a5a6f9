// SPDX-License-Identifier: Apache-2.0
// Stretches of simulated time, and what they add up to.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::operators {

// From a kernel's first block to the end of its last one; or of a wait.
struct KernelSpan {
  Instant begin, end;
  std::uint64_t cause = 0;
};

class Spans {
 public:
  Spans() = default;
  explicit Spans(const KernelSpan& span) { add(span); }

  // One without a length is none.
  void add(const KernelSpan& span);
  void add(const Spans& other);
  // Their sum. Those that overlap count each.
  Picoseconds time() const { return time_; }
  const std::vector<KernelSpan>& all() const { return all_; }
  // The same in order, those that overlap or touch as one.
  Spans joined() const;
  // What of joined() is in none of `taken`.
  Spans without(const Spans& taken) const;
  // From then on it has the sum alone: a long run need not remember each.
  void keep_time_only() { all_.clear(); }

 private:
  std::vector<KernelSpan> all_;
  Picoseconds time_{};
};

}  // namespace npu::operators
