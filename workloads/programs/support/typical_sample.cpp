// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/typical_sample.hpp"
#include "workloads/framework/figures.hpp"

#include <algorithm>
#include <cstdlib>

namespace npu::workloads {
namespace {

struct Extremes {
  MeasuredTime least, most;
};

constexpr Figure<Extremes> kOfExtremes[] = {{"latency_min_ns", "ns", from<&Extremes::least>},
                                            {"latency_max_ns", "ns", from<&Extremes::most>}};

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

void report_latencies(Context& context, const std::string& prefix, const std::string& group,
                      const std::string& label, const std::vector<LatencySample>& samples) {
  const auto& chosen = samples[typical_sample(samples)];
  report_latency(context, prefix, {group, label, chosen.parts, chosen.wait}, chosen.begin,
                 chosen.cause);
  Extremes all{{Picoseconds::max(), {}, platform::Statistic::kLeast},
               {Picoseconds(), {}, platform::Statistic::kMost}};
  for (const auto& sample : samples) {
    const auto span = sample.latency();
    all.least.time = std::min(all.least.time, span.end - span.begin);
    all.most.time = std::max(all.most.time, span.end - span.begin);
    all.least.spans.push_back(span);
  }
  all.most.spans = all.least.spans;
  report_figures(context, prefix + ".", kOfExtremes, all);
}

}  // namespace npu::workloads
