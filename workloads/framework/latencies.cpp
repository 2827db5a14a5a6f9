// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/latencies.hpp"

#include <algorithm>

namespace npu::workloads {

using platform::Activity;

namespace {

bool shorter(const MeasuredSpan& a, const MeasuredSpan& b) {
  const auto one = a.end - a.begin, other = b.end - b.begin;
  return one != other ? one < other : a.begin < b.begin;
}

constexpr std::uint64_t kOfQueue = std::uint64_t{1} << 63;  // platform::queue_cause()

struct Percentiles {
  MeasuredSpan p50, p95, p99;
};

constexpr Figure<Percentiles> kPercentiles[] = {
    {"p50_us", "us", from<&Percentiles::p50>, {"p50 us"}},
    {"p95_us", "us", from<&Percentiles::p95>, {"p95 us"}},
    {"p99_us", "us", from<&Percentiles::p99>, {"p99 us"}}};

}  // namespace

MeasuredSpan percentile(std::vector<MeasuredSpan>& samples, unsigned percent) {
  const auto rank = (samples.size() * percent + 99) / 100;
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(samples.begin(), at, samples.end(), shorter);
  return *at;
}

void Latencies::on_event(const platform::TraceEvent& event) {
  if (event.activity == Activity::kPageFault) {
    faults_.push_back({event.begin, event.end, event.cause});
    return;
  }
  if (event.activity == Activity::kDmaSubmit && (event.cause & kOfQueue) != 0) {
    auto& entry = entries_[event.cause];
    entry.called = event.begin;
    entry.submitted = event.end;
    return;
  }
  const auto known = entries_.find(event.cause);
  if (known == entries_.end()) return;
  auto& entry = known->second;
  switch (event.activity) {
    case Activity::kQueueDecode:
    case Activity::kQueueWait:
    case Activity::kQueueDispatch:
      entry.taken = std::max(entry.taken, event.end);
      return;
    case Activity::kKernelBlock: {
      // Told of when the block ends; others may have begun before.
      if (!entry.launched) launches_.push_back({entry.called, event.begin, event.cause});
      entry.launched = true;
      return;
    }
    case Activity::kQueueComplete:
      if (entry.taken != Instant()) {
        // A card that is quick has taken it before the call has returned.
        queueing_.push_back({entry.submitted, std::max(entry.taken, entry.submitted), event.cause});
      }
      entries_.erase(known);
      return;
    default:
      return;
  }
}

void Latencies::report(Context& context, Table*& table, const std::string& name, const char* what,
                       std::vector<MeasuredSpan>& samples) {
  if (samples.empty()) return;
  if (table == nullptr) {
    table = &add_figure_table(context.report, "latencies", {"what", "number"}, kPercentiles);
  }
  report_figures(context, name + "_", kPercentiles,
                 {percentile(samples, 50), percentile(samples, 95), percentile(samples, 99)}, table,
                 {what, std::to_string(samples.size())});
}

void Latencies::report(Context& context, const std::string& prefix) {
  Table* table = nullptr;
  report(context, table, prefix + ".fault_latency", "page fault", faults_);
  report(context, table, prefix + ".launch_latency", "launch of a kernel", launches_);
  report(context, table, prefix + ".queueing_delay", "wait in a queue", queueing_);
}

}  // namespace npu::workloads
