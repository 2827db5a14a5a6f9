// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/queue_milestones.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/abi/layout.hpp"

namespace npu::workloads {

namespace {

using platform::Activity;

enum Moment : std::size_t {
  kSubmitted,
  kDoorbellWritten,
  kDoorbellDecoded,
  kMapped,
  kFetched,
  kDecoded,
  kDispatched,
  kDone,
  kVisible,
  kMoments,
};
static_assert(kMoments == kQueueParts);

struct PartName {
  const char* part;
  const char* milestone;
  bool optional;  // not every entry has it: its part is 0 then
};
constexpr std::array<PartName, kQueueParts> kPartNames{{
    {"submit", "the doorbell's store", true},
    {"doorbell", "the doorbell written", true},
    {"doorbell_decode", "the doorbell decoded", true},
    {"map", "the queue in a slot", true},
    {"fetch", "the entry fetched", false},
    {"decode", "the entry decoded", false},
    {"dispatch", "the entry dispatched", true},
    {"work", "the work done", false},
    {"completion", "the completion visible", false},
}};

}  // namespace

void QueueMilestones::observe(Moments& moments, const platform::TraceEvent& event) const {
  const auto latest = [&moments](Moment moment, Instant time) {
    auto& kept = moments[moment];
    kept = kept ? std::max(*kept, time) : time;
  };
  switch (event.activity) {
    case Activity::kQueueDoorbell:
      if (const auto store = stores_.find(event.begin); store != stores_.end()) {
        moments[kSubmitted] = store->second;
      }
      moments[kDoorbellWritten] = event.begin;
      moments[kDoorbellDecoded] = event.end;
      break;
    case Activity::kQueueMap:
      latest(kMapped, event.end);
      break;
    case Activity::kQueueFetch:
      latest(kFetched, event.end);
      break;
    case Activity::kQueueDecode:
      latest(kDecoded, event.end);
      break;
    case Activity::kQueueWait:
    case Activity::kQueueDispatch:
      latest(kDispatched, event.end);
      break;
    case Activity::kQueueComplete:
      moments[kDone] = event.begin;
      latest(kVisible, event.end);
      break;
    default:
      break;
  }
}

void QueueMilestones::on_event(const platform::TraceEvent& event) {
  if (event.activity == Activity::kMmioWrite) {
    if (event.detail >> 56 == abi::kMemoryBar) stores_[event.end] = event.begin;
    return;
  }
  if (event.cause == 0) return;
  if (event.activity == Activity::kHostWrite) {
    // Behind kQueueComplete: the completion entry is the last thing that an entry writes there.
    const auto it = by_cause_.find(event.cause);
    if (it != by_cause_.end() && it->second[kDone] && event.end > *it->second[kDone]) {
      it->second[kVisible] = event.end;
    }
    return;
  }
  observe(by_cause_[event.cause], event);
}

Result<Breakdown> QueueMilestones::parts(std::uint64_t cause, CallSpan call) const {
  const auto it = by_cause_.find(cause);
  const auto name = [cause] {
    return fmt::format("entry {} of queue {}", cause & 0xFF'FFFF'FFFF, cause >> 40 & 0xFFFF);
  };
  if (it == by_cause_.end()) return fail(ErrorCode::kNotFound, name() + ": no event tells of it");
  Breakdown breakdown;
  Instant last = call.called;
  for (std::size_t i = 0; i < kPartNames.size(); ++i) {
    const auto& moment = it->second[i];
    if (!moment && !kPartNames[i].optional) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: no event tells of {}", name(), kPartNames[i].milestone));
    }
    const Instant when = std::min(std::max(moment.value_or(last), last), call.returned);
    breakdown.parts.push_back({kPartNames[i].part, when - last});
    last = when;
  }
  breakdown.wait = call.returned - last;
  return breakdown;
}

}  // namespace npu::workloads
