// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/milestones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "npu/abi/registers.hpp"

namespace npu::workloads {

namespace {

using platform::Activity;

// kMmioWrite: detail = BAR offset | BAR << 56.
constexpr unsigned kBarShift = 56;
constexpr std::uint64_t kDoorbellDetail =
    std::uint64_t{abi::kRegisterBar} << kBarShift | abi::DmaDoorbell::kOffset;

void keep_latest(std::optional<Instant>& milestone, Instant instant) {
  milestone = milestone ? std::max(*milestone, instant) : instant;
}

struct Step {
  const char* part = "";       // ends at this milestone
  const char* milestone = "";  // for errors; empty: it may be missing
  std::optional<Instant> when;
};

std::string command_text(std::uint64_t cause) {
  return fmt::format("command {} of card {}", cause & 0xFFFF'FFFF'FFFF, (cause >> 48) - 1);
}

}  // namespace

// The first doorbell behind the entry tells the card of it; another one, and what is written into
// device memory behind it, does not matter to the command.
void Milestones::observe(const platform::TraceEvent& event, RingPlace ring) {
  switch (event.activity) {
    case Activity::kMmioWrite:
      if (doorbell_written) break;
      if (event.detail >> kBarShift == abi::kMemoryBar) {
        keep_latest(entry_begun, event.begin);
        keep_latest(entry_written, event.end);
      }
      if (event.detail == kDoorbellDetail && (entry_written || ring == RingPlace::kHostMemory)) {
        doorbell_issued = event.begin;
        doorbell_written = event.end;
      }
      break;
    case Activity::kEngineStart:
      keep_latest(data_requested, event.end);
      break;
    case Activity::kDataWrite:
      keep_latest(data_written, event.end);
      break;
    case Activity::kCompletion:
    case Activity::kHostWrite:
      keep_latest(completed, event.end);
      break;
    default:
      break;
  }
}

Result<Breakdown> latency_parts(const Milestones& milestones, RingPlace ring, CallSpan call,
                                std::uint64_t cause) {
  const bool device_ring = ring == RingPlace::kDeviceMemory;
  const std::array<Step, 6> steps{{
      {"submit", "", device_ring ? milestones.entry_begun : std::nullopt},
      {"entry_store", "", device_ring ? milestones.entry_written : milestones.doorbell_issued},
      {"doorbell", "", milestones.doorbell_written},
      {"engine_start", "the first data request", milestones.data_requested},
      {"data", "the last data written", milestones.data_written},
      {"completion", "its completion", milestones.completed},
  }};
  Breakdown breakdown;
  Instant last = call.called;
  for (const auto& step : steps) {
    if (!step.when && *step.milestone != '\0') {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: no event tells of {}", command_text(cause), step.milestone));
    }
    const Instant moment = std::min(std::max(step.when.value_or(last), last), call.returned);
    breakdown.parts.push_back({step.part, moment - last});
    last = moment;
  }
  breakdown.wait = call.returned - last;
  return breakdown;
}

void MilestoneCollector::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kMmioWrite:
    case Activity::kEngineStart:
    case Activity::kDataWrite:
    case Activity::kCompletion:
    case Activity::kHostWrite:
      if (event.cause != 0) by_cause_[event.cause].observe(event, ring_);
      break;
    default:
      break;
  }
}

Result<Breakdown> MilestoneCollector::parts(std::uint64_t cause, CallSpan call) const {
  const auto it = by_cause_.find(cause);
  return latency_parts(it == by_cause_.end() ? Milestones{} : it->second, ring_, call, cause);
}

}  // namespace npu::workloads
