// SPDX-License-Identifier: Apache-2.0
// Tells whoever records events what a time of the report is made of: Activity::kMeasurement on the
// track "workload.METRIC", so that a script finds the same time in the trace (docs/timeline.md).
// Only moments that the metric itself was computed from are told of. When nobody records, all of it
// costs a look at a flag.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/platform/trace.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

struct MeasuredSpan {
  Instant begin, end;
  std::uint64_t cause = 0;  // of the request measured, if it is one
  std::uint64_t count = 1;  // how many the span stands for, where the report has the mean of one
};

// One span of the metric with that name, whose value is `statistic` over all of its spans.
void mark(platform::Tracer& tracer, const std::string& metric, const MeasuredSpan& span,
          platform::Statistic statistic = platform::Statistic::kSum);
void mark(platform::Tracer& tracer, const std::string& metric,
          const std::vector<MeasuredSpan>& spans, platform::Statistic statistic);

// A mean as reports print it: the sum of `count` times by their number, rounded half up to a
// picosecond. 0 of none.
constexpr Picoseconds mean(Picoseconds sum, std::uint64_t count) {
  if (count == 0) return {};
  const auto divisor = static_cast<std::int64_t>(count);
  return Picoseconds((sum.count() + divisor / 2) / divisor);
}

// What `end` has counted since `begin`, in these members; the others are those of `end`.
template <class T, class... Member>
T counted_between(const T& begin, T end, Member... members) {
  ((end.*members -= begin.*members), ...);
  return end;
}

}  // namespace npu::workloads
