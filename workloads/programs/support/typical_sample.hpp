// SPDX-License-Identifier: Apache-2.0
// One measured latency with its parts, and which of several stands for all.
#pragma once

#include <vector>

#include "npu/platform/trace.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

struct LatencySample {
  std::vector<Breakdown::Part> parts;  // of the latency
  Picoseconds wait;                    // from its end to the call's return
  Instant begin{};                     // of the call
  std::uint64_t cause = 0;             // of the request
};

// The sample that is nearest to the medians of all parts: its own parts add up to its latency, and
// none of them is an outlier that met a refresh. There is at least one; all have the same parts.
std::size_t typical_sample(const std::vector<LatencySample>& samples);

// Adds and marks (framework/measurement.hpp) the typical sample as PREFIX.latency_ns with its
// parts, its wait and PREFIX.call_ns, and PREFIX.latency_min_ns and PREFIX.latency_max_ns; a row
// `label` of the table `group`.
void report_latency(Report& report, platform::Tracer& tracer, const std::string& prefix,
                    const std::string& group, const std::string& label,
                    std::vector<LatencySample> samples);

}  // namespace npu::workloads
