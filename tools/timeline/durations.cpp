// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/durations.hpp"

#include <algorithm>

namespace npu::timeline {
namespace {

constexpr unsigned kBits = 7;  // steps per power of two: 2^kBits
constexpr std::uint64_t kSteps = std::uint64_t{1} << kBits;

}  // namespace

// Below 2^(kBits + 1) every value has a step of its own.
std::size_t Durations::step_of(std::uint64_t time) {
  if (time < 2 * kSteps) return static_cast<std::size_t>(time);
  const unsigned shift = 63 - static_cast<unsigned>(__builtin_clzll(time)) - kBits;
  return static_cast<std::size_t>(shift * kSteps + (time >> shift));
}

std::uint64_t Durations::end_of(std::size_t step) {
  if (step < 2 * kSteps) return step;
  const std::uint64_t shift = step / kSteps - 1;
  return ((step - shift * kSteps + 1) << shift) - 1;
}

void Durations::on_event(const platform::TraceEvent& event) {
  // The report has these already, under their names.
  if (event.activity == platform::Activity::kMeasurement) return;
  auto& histogram = histograms_[static_cast<std::size_t>(event.activity)];
  const Picoseconds time = event.end - event.begin;
  ++histogram.count;
  histogram.total += time;
  histogram.least = std::min(histogram.least, time);
  histogram.most = std::max(histogram.most, time);
  const std::size_t step = step_of(static_cast<std::uint64_t>(time.count()));
  if (step >= histogram.steps.size()) histogram.steps.resize(step + 1);
  ++histogram.steps[step];
}

Picoseconds Durations::percentile(const Histogram& histogram, unsigned percent) {
  const std::uint64_t wanted = (histogram.count * percent + 99) / 100;
  std::uint64_t seen = 0;
  for (std::size_t step = 0; step < histogram.steps.size(); ++step) {
    seen += histogram.steps[step];
    if (seen < wanted) continue;
    return std::min(histogram.most, Picoseconds(static_cast<std::int64_t>(end_of(step))));
  }
  return histogram.most;
}

std::vector<Duration> Durations::all() const {
  std::vector<Duration> result;
  for (std::size_t i = 0; i < histograms_.size(); ++i) {
    const auto& each = histograms_[i];
    if (each.most == Picoseconds{}) continue;
    result.push_back({static_cast<platform::Activity>(i), each.count, each.least,
                      percentile(each, 50), percentile(each, 90), percentile(each, 99), each.most,
                      each.total});
  }
  return result;
}

}  // namespace npu::timeline
