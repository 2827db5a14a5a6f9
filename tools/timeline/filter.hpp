// SPDX-License-Identifier: Apache-2.0
// Which events a timeline holds.
#pragma once

#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/platform/trace.hpp"

namespace npu::timeline {

struct Filter {
  // Events that have something in common with [begin, end).
  Instant begin;
  Instant end = Instant::never();
  // Patterns of track names, activities or categories, `*` for any text: "card0.dma*", "tlp",
  // "aicore". Empty: all.
  std::vector<std::string> units;
  std::vector<std::uint64_t> causes;  // empty: all

  // "10us..2.5ms", "..1ms", "3ms.."; units ps, ns, us, ms, s. kInvalidArgument, also if it is
  // empty.
  Status set_window(const std::string& text);

  bool is_all() const {
    return begin == Instant() && end == Instant::never() && units.empty() && causes.empty();
  }
  bool covers(const platform::TraceEvent& event) const {
    if (event.end < begin || event.begin >= end) return false;
    return covers_cause(event.cause);
  }
  bool covers_cause(std::uint64_t cause) const { return causes.empty() || has_cause(cause); }
  // The first of `units` that is like no activity, no category and none of `tracks`; else empty.
  std::string unknown_unit(const std::vector<std::string>& tracks) const;
  // By name; whoever asks often keeps the answers.
  bool covers(std::string_view track, platform::Activity activity) const;

 private:
  bool has_cause(std::uint64_t cause) const;
};

}  // namespace npu::timeline
