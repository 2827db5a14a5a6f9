// SPDX-License-Identifier: Apache-2.0
// One measured latency with its parts, and which of several stands for all.
#pragma once

#include <vector>

#include "workloads/framework/figures.hpp"

namespace npu::workloads {

struct LatencySample {
  std::vector<Breakdown::Part> parts;  // of the latency
  Picoseconds wait;                    // from its end to the call's return
  Instant begin{};                     // of the call
  std::uint64_t cause = 0;             // of the request

  MeasuredSpan latency() const { return {begin, begin + Breakdown{"", "", parts}.total(), cause}; }
};

// The sample that is nearest to the medians of all parts: its own parts add up to its latency, and
// none of them is an outlier that met a refresh. There is at least one; all have the same parts.
std::size_t typical_sample(const std::vector<LatencySample>& samples);

// Reports the typical sample with its parts, its wait and the call, and the least and the most of
// all latencies; a row `label` of the table `group`.
void report_latencies(Context& context, const std::string& prefix, const std::string& group,
                      const std::string& label, const std::vector<LatencySample>& samples);

}  // namespace npu::workloads
