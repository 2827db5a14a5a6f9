// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/typical_sample.hpp"

#include <algorithm>
#include <cstdlib>

#include "workloads/framework/measurement.hpp"

namespace npu::workloads {

namespace {

// The call from its begin on, part by part.
void mark_call(platform::Tracer& tracer, const std::string& prefix, const LatencySample& sample) {
  if (!tracer.enabled()) return;
  const Instant end =
      mark_parts(tracer, prefix + ".breakdown.", "_ns", sample.parts, sample.begin, sample.cause);
  mark(tracer, prefix + ".latency_ns", {sample.begin, end, sample.cause});
  mark(tracer, prefix + ".breakdown.wait_ns", {end, end + sample.wait, sample.cause});
  mark(tracer, prefix + ".call_ns", {sample.begin, end + sample.wait, sample.cause});
}

}  // namespace

std::size_t typical_sample(const std::vector<LatencySample>& samples) {
  std::vector<std::int64_t> distances(samples.size());
  for (std::size_t part = 0; part < samples.front().parts.size(); ++part) {
    std::vector<std::int64_t> times;
    times.reserve(samples.size());
    for (const auto& sample : samples) times.push_back(sample.parts[part].time.count());
    std::sort(times.begin(), times.end());
    const std::int64_t median = times[(times.size() - 1) / 2];
    for (std::size_t i = 0; i < samples.size(); ++i) {
      distances[i] += std::abs(samples[i].parts[part].time.count() - median);
    }
  }
  return static_cast<std::size_t>(std::min_element(distances.begin(), distances.end()) -
                                  distances.begin());
}

void report_latency(Report& report, platform::Tracer& tracer, const std::string& prefix,
                    const std::string& group, const std::string& label,
                    std::vector<LatencySample> samples) {
  Picoseconds least = Picoseconds::max();
  Picoseconds most;
  for (const auto& sample : samples) {
    const Picoseconds latency = Breakdown{"", "", sample.parts}.total();
    least = std::min(least, latency);
    most = std::max(most, latency);
    const MeasuredSpan span{sample.begin, sample.begin + latency, sample.cause};
    mark(tracer, prefix + ".latency_min_ns", span, platform::Statistic::kLeast);
    mark(tracer, prefix + ".latency_max_ns", span, platform::Statistic::kMost);
  }
  auto& chosen = samples[typical_sample(samples)];
  mark_call(tracer, prefix, chosen);
  report.add_latency(prefix, {group, label, std::move(chosen.parts), chosen.wait});
  report.add_metric(prefix + ".latency_min_ns", Number::nanoseconds(least), "ns");
  report.add_metric(prefix + ".latency_max_ns", Number::nanoseconds(most), "ns");
}

}  // namespace npu::workloads
