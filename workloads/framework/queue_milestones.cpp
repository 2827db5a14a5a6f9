// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/queue_milestones.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::workloads {

namespace {

using platform::Activity;

enum Moment : std::size_t {
  kCalled,
  kSubmitted,
  kDoorbellWritten,
  kDoorbellDecoded,
  kMapped,
  kFetched,
  kDecoded,
  kDispatched,
  kDone,
  kVisible,
  kReturned,
};
static_assert(kReturned == kQueueParts);

struct Name {
  const char* part;
  const char* milestone;
  bool optional;  // not every entry has it: its part is 0 then
};
constexpr std::array<Name, kQueueParts + 1> kNames{{
    {"", "the call of submit()", false},
    {"submit", "the return of submit()", false},
    {"doorbell", "the doorbell written", false},
    {"doorbell_decode", "the doorbell decoded", false},
    {"map", "the queue in a slot", true},
    {"fetch", "the entry fetched", false},
    {"decode", "the entry decoded", false},
    {"dispatch", "the entry dispatched", true},
    {"work", "the work done", false},
    {"completion", "the completion visible", false},
    {"wait", "the return of wait()", false},
}};

}  // namespace

void QueueMilestones::observe(Moments& moments, const platform::TraceEvent& event) {
  const auto latest = [&moments](Moment moment, Picoseconds time) {
    auto& kept = moments[moment];
    kept = kept ? std::max(*kept, time) : time;
  };
  switch (event.activity) {
    case Activity::kDmaSubmit:
      moments[kCalled] = event.begin;
      moments[kSubmitted] = event.end;
      break;
    case Activity::kQueueDoorbell:
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
    case Activity::kEventWait:
      latest(kReturned, event.end);
      break;
    default:
      break;
  }
}

void QueueMilestones::on_event(const platform::TraceEvent& event) {
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

Result<std::vector<Breakdown::Part>> QueueMilestones::parts(std::uint64_t cause) const {
  const auto it = by_cause_.find(cause);
  const auto name = [cause] {
    return fmt::format("entry {} of queue {}", cause & 0xFF'FFFF'FFFF, cause >> 40 & 0xFFFF);
  };
  if (it == by_cause_.end()) return fail(ErrorCode::kNotFound, name() + ": no event tells of it");
  std::vector<Breakdown::Part> parts;
  Picoseconds last = it->second[kCalled].value_or(Picoseconds(0));
  for (std::size_t i = kCalled; i < kNames.size(); ++i) {
    const auto& moment = it->second[i];
    if (!moment && !kNames[i].optional) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: no event tells of {}", name(), kNames[i].milestone));
    }
    const Picoseconds when = moment.value_or(last);
    if (when < last) {
      return fail(ErrorCode::kOutOfRange, fmt::format("{}: {} at {} ps lies before {} at {} ps",
                                                      name(), kNames[i].milestone, when.count(),
                                                      kNames[i - 1].milestone, last.count()));
    }
    if (i != kCalled) parts.push_back({kNames[i].part, when - last});
    last = when;
  }
  return parts;
}

}  // namespace npu::workloads
