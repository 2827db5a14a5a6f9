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

void keep_latest(std::optional<Picoseconds>& milestone, Picoseconds time) {
  milestone = milestone ? std::max(*milestone, time) : time;
}

struct Step {
  const char* part = "";       // ends at this milestone
  const char* milestone = "";  // for errors
  std::optional<Picoseconds> when;
};

std::string command_text(std::uint64_t cause) {
  return fmt::format("command {} of card {}", cause & 0xFFFF'FFFF'FFFF, (cause >> 48) - 1);
}

}  // namespace

void Milestones::observe(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kDmaSubmit:
      submit_called = event.begin;
      submit_returned = event.end;
      break;
    case Activity::kMmioWrite:
      if (event.detail >> kBarShift == abi::kMemoryBar) keep_latest(entry_written, event.end);
      if (event.detail == kDoorbellDetail) keep_latest(doorbell_written, event.end);
      break;
    case Activity::kEngineStart:
      keep_latest(data_requested, event.end);
      break;
    case Activity::kDataWrite:
      keep_latest(data_written, event.end);
      break;
    case Activity::kEventVisible:
      keep_latest(event_visible, event.end);
      break;
    case Activity::kHostWrite:
      keep_latest(last_host_write, event.end);
      break;
    case Activity::kEventWait:
      keep_latest(wait_returned, event.end);
      break;
    default:
      break;
  }
}

Result<std::vector<Breakdown::Part>> latency_parts(const Milestones& milestones, RingPlace ring,
                                                   std::uint64_t cause) {
  const bool device_ring = ring == RingPlace::kDeviceMemory;
  const auto& visible =
      milestones.event_visible ? milestones.event_visible : milestones.last_host_write;
  const std::array<Step, 7> steps{{
      {"", "the call of submit()", milestones.submit_called},
      device_ring ? Step{"entry_store", "the entry in device memory", milestones.entry_written}
                  : Step{"entry_store", "the return of submit()", milestones.submit_returned},
      {"doorbell", "the doorbell register written", milestones.doorbell_written},
      {"engine_start", "the first data request", milestones.data_requested},
      {"data", "the last data written", milestones.data_written},
      {"completion", "the event record visible", visible},
      {"wait", "the return of wait()", milestones.wait_returned},
  }};
  std::vector<Breakdown::Part> parts;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].when) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: no event tells of {}", command_text(cause), steps[i].milestone));
    }
    if (i == 0) continue;
    if (*steps[i].when < *steps[i - 1].when) {
      return fail(ErrorCode::kOutOfRange,
                  fmt::format("{}: {} at {} ps lies before {} at {} ps", command_text(cause),
                              steps[i].milestone, steps[i].when->count(), steps[i - 1].milestone,
                              steps[i - 1].when->count()));
    }
    parts.push_back({steps[i].part, *steps[i].when - *steps[i - 1].when});
  }
  return parts;
}

void MilestoneCollector::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kDmaSubmit:
    case Activity::kMmioWrite:
    case Activity::kEngineStart:
    case Activity::kDataWrite:
    case Activity::kEventVisible:
    case Activity::kHostWrite:
    case Activity::kEventWait:
      if (event.cause != 0) by_cause_[event.cause].observe(event);
      break;
    default:
      break;
  }
}

Milestones MilestoneCollector::of(std::uint64_t cause) const {
  const auto it = by_cause_.find(cause);
  return it == by_cause_.end() ? Milestones{} : it->second;
}

}  // namespace npu::workloads
