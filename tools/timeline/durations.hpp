// SPDX-License-Identifier: Apache-2.0
// How long each activity took over a run: count, sum, extremes and percentiles. Percentiles come
// from a histogram whose steps are at most 1/128 of the value (a percentile is the upper end of its
// step, and no more than the longest).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::timeline {

struct Duration {
  platform::Activity activity;
  std::uint64_t count;
  Picoseconds least, p50, p90, p99, most, total;
};

class Durations : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override;
  // Of activities that happened and took time, but for measurements, in the order of the
  // enumeration.
  std::vector<Duration> all() const;

 private:
  struct Histogram {
    std::uint64_t count = 0;
    Picoseconds least = Picoseconds::max(), most{}, total{};
    std::vector<std::uint64_t> steps;
  };
  static std::size_t step_of(std::uint64_t time);
  static std::uint64_t end_of(std::size_t step);  // the largest time in it
  static Picoseconds percentile(const Histogram& histogram, unsigned percent);

  std::array<Histogram, platform::kActivities> histograms_;
};

}  // namespace npu::timeline
