// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/fault_milestones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace npu::workloads {

using platform::Activity;

namespace {

void first(std::optional<Instant>& moment, Instant when) {
  if (!moment) moment = when;
}

// The first of the moments that is not before `after`.
std::optional<Instant> next(const std::vector<Instant>& moments, std::optional<Instant> after) {
  std::optional<Instant> found;
  for (const auto moment : moments) {
    if (after && moment >= *after && (!found || moment < *found)) found = moment;
  }
  return found;
}

}  // namespace

void FaultMilestones::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kPageWalk:
      if (replied_) first(found_, event.end);
      walks_.push_back({event.begin, event.end});
      return;
    case Activity::kPageFault:
      first(walked_, event.begin);
      first(replied_, event.end);
      return;
    case Activity::kPagerTakeFault:
      first(seen_, event.begin);
      first(asked_, event.end);
      return;
    case Activity::kPagerMapPage:
      first(answered_, event.begin);
      return;
    case Activity::kHostWrite:
      writes_.push_back(event.end);
      return;
    case Activity::kAtsRequest:
      if (translations_.empty()) walked_ = event.begin;
      translations_.push_back({event.begin, event.end});
      return;
    case Activity::kInterrupt:
      messages_.push_back(event.end);
      return;
    case Activity::kInterruptHandler:
      interrupts_.push_back(event.end);
      return;
    case Activity::kStage:
      return on_stage(event);
    default:
      return;
  }
}

void FaultMilestones::on_stage(const platform::TraceEvent& event) {
  constexpr std::string_view kTracks = ".page_fault.";
  const std::string track = source_.track_name(event.track);
  const auto at = track.find(kTracks);
  if (at == std::string::npos) return;
  const auto name = track.substr(at + kTracks.size());
  if (name == "allocate") first(allocate_, event.begin);
  if (name == "unmap") first(unmap_, event.begin);
  if (name == "copy") first(copy_, event.begin);
  if (name == "invalidate") first(invalidate_, event.begin);
  if (name == "map") first(map_, event.begin);
  if (name == "reply") first(reply_, event.begin);
}

Instant FaultMilestones::begin() const {
  const auto walk = std::find_if(walks_.begin(), walks_.end(),
                                 [this](const MeasuredSpan& span) { return span.end == walked_; });
  if (walk != walks_.end()) return walk->begin;
  return walked_.value_or(Instant{});
}

// Of stages that there are not, the next one's beginning.
std::vector<FaultMilestones::Row> FaultMilestones::rows_of_driver() const {
  const auto told = next(writes_, walked_);
  const auto mapping = map_ ? map_ : reply_;
  const auto invalidating = invalidate_ ? invalidate_ : mapping;
  const auto copying = copy_ ? copy_ : invalidating;
  const auto unmapping = unmap_ ? unmap_ : copying;
  return {{"walk", walked_},      {"message", told},         {"interrupt", next(interrupts_, told)},
          {"driver", allocate_},  {"allocation", unmapping}, {"unmapping", copying},
          {"copy", invalidating}, {"invalidation", mapping}, {"table", reply_},
          {"reply", replied_},    {"replay", found_}};
}

std::vector<FaultMilestones::Row> FaultMilestones::rows_of_pager() const {
  const auto told = next(writes_, asked_);
  const auto mapping = map_ ? map_ : reply_;
  const auto invalidating = invalidate_ ? invalidate_ : mapping;
  const auto copying = copy_ ? copy_ : invalidating;
  const auto unmapping = unmap_ ? unmap_ : copying;
  return {{"walk", walked_},
          {"signal", seen_},
          {"allocation", asked_},
          {"message", told},
          {"interrupt", next(interrupts_, told)},
          {"driver", unmapping},
          {"unmapping", copying},
          {"copy", invalidating},
          {"invalidation", mapping},
          {"adoption", reply_},
          {"reply", answered_},
          {"table", replied_},
          {"replay", found_}};
}

std::vector<FaultMilestones::Row> FaultMilestones::rows_in_place() const {
  std::optional<Instant> answered, granted;
  if (!translations_.empty()) answered = translations_.front().end;
  if (translations_.size() > 1) granted = translations_.back().end;
  std::vector<Row> rows = {{"walk", walked_}, {"translation", answered}};
  if (!replied_) return rows;  // the host has the page
  const auto told = next(messages_, answered);
  rows.insert(rows.end(), {{"message", told},
                           {"interrupt", next(interrupts_, told)},
                           {"driver", allocate_},
                           {"allocation", map_},
                           {"table", reply_},
                           {"reply", replied_},
                           {"replay", granted}});
  return rows;
}

Result<std::vector<Breakdown::Part>> FaultMilestones::parts() const {
  const auto rows = policy_ == driver::FaultPolicy::kAts       ? rows_in_place()
                    : policy_ == driver::FaultPolicy::kMessage ? rows_of_pager()
                                                               : rows_of_driver();
  std::vector<Breakdown::Part> parts;
  Instant last = begin();
  for (const auto& row : rows) {
    if (!row.end) {
      return fail(ErrorCode::kNotFound, fmt::format("the fault's {} was not seen", row.name));
    }
    parts.push_back({row.name, *row.end - last});
    last = *row.end;
  }
  return parts;
}

}  // namespace npu::workloads
