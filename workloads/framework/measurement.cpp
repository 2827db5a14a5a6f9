// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/measurement.hpp"

namespace npu::workloads {
namespace {

constexpr unsigned kCountShift = 8;  // of kMeasurement's detail

}  // namespace

void mark(platform::Tracer& tracer, const std::string& metric, const MeasuredSpan& span,
          platform::Statistic statistic) {
  if (!tracer.enabled()) return;
  platform::TraceEvent event;
  event.begin = span.begin;
  event.end = span.end;
  event.cause = span.cause;
  event.detail = span.count << kCountShift | static_cast<std::uint64_t>(statistic);
  event.track = tracer.track("workload." + metric);
  event.activity = platform::Activity::kMeasurement;
  tracer.emit(event);
}

void mark(platform::Tracer& tracer, const std::string& metric,
          const std::vector<MeasuredSpan>& spans, platform::Statistic statistic) {
  if (!tracer.enabled()) return;
  for (const auto& span : spans) mark(tracer, metric, span, statistic);
}

}  // namespace npu::workloads
