// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/dma_usage.hpp"

#include <algorithm>

#include "npu/abi/dma.hpp"

namespace npu::workloads {

using platform::Activity;

void DmaUsage::on_event(const platform::TraceEvent& event) {
  if (event.cause >> 48 != std::uint64_t{device_index_} + 1) return;  // not a DMA command of ours
  switch (event.activity) {
    case Activity::kDmaSubmit:
      return submitted(event);
    case Activity::kEngineStart:
      add(event.begin, Kind::kDispatched);
      add(std::max(event.begin, event.end - engines_.setup), Kind::kStarted);
      moving_ -= event.end - Instant();
      return;
    case Activity::kDataRead:
      reading_ += event.end - event.begin;
      return;
    case Activity::kCompletion:
      add(event.begin, Kind::kEnded);
      moving_ += event.begin - Instant();
      return;
    case Activity::kEventWait:
      add(event.begin, Kind::kWaits);
      add(event.end, Kind::kGoesOn);
      return;
    default:
      return;
  }
}

void DmaUsage::submitted(const platform::TraceEvent& event) {
  static_assert(kMostOpen > 16 * abi::kRingEntries);
  add(event.end, Kind::kSubmitted);
  submissions_.push_back(event.begin);
  if (submissions_.size() <= kMostOpen) return;
  sweep(submissions_.front());
  submissions_.pop_front();
}

void DmaUsage::sweep(Instant until) {
  while (!changes_.empty() && changes_.top().when <= until) {
    const Change change = changes_.top();
    changes_.pop();
    pass(change.when);
    apply(change.kind);
  }
  pass(until);
}

void DmaUsage::pass(Instant when) {
  if (when <= last_) return;
  times_[static_cast<std::size_t>(cause())] += when - last_;
  last_ = when;
}

void DmaUsage::apply(Kind kind) {
  switch (kind) {
    case Kind::kSubmitted:
      ++in_ring_;
      return;
    case Kind::kDispatched:
      --in_ring_;
      ++in_queues_;
      return;
    case Kind::kStarted:
      --in_queues_;
      ++executing_;
      return;
    case Kind::kEnded:
      --executing_;
      return;
    case Kind::kWaits:
    case Kind::kGoesOn:
      host_waits_ = kind == Kind::kWaits;
      return;
  }
}

// One command in the ring is on its way; several are held up there.
DmaCause DmaUsage::cause() const {
  if (executing_ >= static_cast<std::int64_t>(engines_.count)) return DmaCause::kEngines;
  if (in_queues_ > 0) return DmaCause::kOrder;
  if (in_ring_ > 1) return DmaCause::kFetch;
  return host_waits_ ? DmaCause::kInFlight : DmaCause::kHost;
}

std::int64_t DmaUsage::reads_percent() const {
  const auto most = moving_.count() * static_cast<std::int64_t>(engines_.outstanding_reads);
  return most <= 0 ? 0
                   : static_cast<std::int64_t>(100.0 * static_cast<double>(reading_.count()) /
                                               static_cast<double>(most));
}

}  // namespace npu::workloads
