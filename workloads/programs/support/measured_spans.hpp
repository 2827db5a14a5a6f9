// SPDX-License-Identifier: Apache-2.0
// Stretches of time as a time of the report.
#pragma once

#include "kernels/operators/launcher/spans.hpp"
#include "workloads/framework/figures.hpp"

namespace npu::workloads {

// Their sum divided by `count`: of each of so many steps.
inline MeasuredTime measured(const operators::Spans& spans, std::uint64_t count = 1) {
  const auto statistic = count == 1 ? platform::Statistic::kSum : platform::Statistic::kMean;
  MeasuredTime time{mean(spans.time(), count), {}, statistic};
  for (const auto& each : spans.all()) {
    // The first one stands for all steps, the others are further parts of it.
    const auto steps = time.spans.empty() ? count : 0;
    time.spans.push_back({each.begin, each.end, each.cause, steps});
  }
  return time;
}

// As from(), of a member that is Spans.
template <auto kMember, auto... kMembers, class T>
FigureValue length(const T& of) {
  if constexpr (sizeof...(kMembers) == 0) {
    return measured(std::invoke(kMember, of));
  } else {
    return length<kMembers...>(std::invoke(kMember, of));
  }
}

}  // namespace npu::workloads
