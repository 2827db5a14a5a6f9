// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/fault_milestones.hpp"

#include <fmt/format.h>

#include <string>

namespace npu::workloads {

using platform::Activity;

namespace {

void first(std::optional<Instant>& moment, Instant when) {
  if (!moment) moment = when;
}

}  // namespace

void FaultMilestones::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kPageWalk:
      if (!begin_) begin_ = event.begin, walked_ = event.end;
      if (replied_) first(found_, event.end);
      return;
    case Activity::kPagerTakeFault:
      first(seen_, event.begin);
      first(asked_, event.end);
      return;
    case Activity::kPagerMapPage:
      first(answered_, event.begin);
      return;
    case Activity::kHostWrite:
      if (by_pager_ ? asked_ : walked_) first(told_, event.end);
      return;
    case Activity::kInterruptHandler:
      if (told_) first(interrupted_, event.end);
      return;
    case Activity::kPageFault:
      first(replied_, event.end);
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
  if (name == "copy") first(copy_, event.begin);
  if (name == "map") first(map_, event.begin);
  if (name == "reply") first(reply_, event.begin);
}

Result<std::vector<Breakdown::Part>> FaultMilestones::parts() const {
  struct Row {
    const char* name;
    const std::optional<Instant>& end;
  };
  const auto& copied_to = by_pager_ ? reply_ : map_;
  const auto& copied_from = copy_ ? copy_ : copied_to;
  const std::vector<Row> by_driver = {
      {"walk", walked_},     {"message", told_},          {"interrupt", interrupted_},
      {"driver", allocate_}, {"allocation", copied_from}, {"copy", map_},
      {"table", reply_},     {"reply", replied_},         {"replay", found_}};
  const std::vector<Row> by_pager = {
      {"walk", walked_},  {"signal", seen_},           {"allocation", asked_},
      {"message", told_}, {"interrupt", interrupted_}, {"driver", copied_from},
      {"copy", reply_},   {"reply", answered_},        {"table", replied_},
      {"replay", found_}};
  std::vector<Breakdown::Part> parts;
  Instant last = begin();
  for (const auto& row : by_pager_ ? by_pager : by_driver) {
    if (!begin_ || !row.end) {
      return fail(ErrorCode::kNotFound, fmt::format("the fault's {} was not seen", row.name));
    }
    parts.push_back({row.name, *row.end - last});
    last = *row.end;
  }
  return parts;
}

}  // namespace npu::workloads
