// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/path_events.hpp"

#include <algorithm>

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::Path;

platform::Path path_of(Activity activity) {
  return platform::row_of(activity).path;
}

// The way of a copy is told by its kCopyPath.
bool is_copy(const platform::TraceEvent& event) {
  if (event.activity != Activity::kPipe) return false;
  switch (platform::PipeDetail::unpack(event.detail).operation) {
    case platform::PipeOperation::kGmToL1:
    case platform::PipeOperation::kGmToUb:
    case platform::PipeOperation::kUbToGm:
    case platform::PipeOperation::kL1ToGm:
    case platform::PipeOperation::kFixpipeToGm:
    case platform::PipeOperation::kFixpipeToL1:
    case platform::PipeOperation::kFixpipeToUb:
      return true;
    default:
      return false;
  }
}

}  // namespace

void PathEvents::on_event(const platform::TraceEvent& event) {
  if (path_of(event.activity) == Path::kNone || is_copy(event)) return;
  if (events_.size() == most_) {  // the younger half stays: a path is looked for from its end
    const auto middle = events_.begin() + static_cast<std::ptrdiff_t>(most_ / 2);
    for (auto it = events_.begin(); it != middle; ++it) {
      known_from_ = std::max(known_from_, it->end);
    }
    events_.erase(events_.begin(), middle);
  }
  events_.push_back({event.begin.since_power_up().count(), event.end.since_power_up().count(),
                     event.cause, event.detail, event.track, event.activity});
}

void PathEvents::sort(const TrackName& track_name) {
  std::stable_sort(events_.begin(), events_.end(), [](const PathEvent& a, const PathEvent& b) {
    return a.end != b.end ? a.end < b.end : a.begin < b.begin;
  });
  std::map<std::string, std::uint32_t> numbers;
  const auto number = [&numbers](const std::string& name) {
    return numbers.emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
  };
  for (Index i = 0; i < events_.size(); ++i) {
    const auto track = events_[i].track;
    const auto [place, is_new] = places_.try_emplace(track);
    if (is_new) {
      const auto name = track_name(track);
      const auto dot = name.find('.');
      place->second.card = number(name.substr(0, dot));
      place->second.core =
          number(dot == std::string::npos ? name : name.substr(0, name.find('.', dot + 1)));
    }
    enter(i);
  }
}

void PathEvents::enter(Index index) {
  const PathEvent& event = events_[index];
  const auto add = [this, index](Group::Kind kind, std::uint64_t value) {
    lists_[kind][value].push_back(index);
  };
  const auto activity = event.activity;
  const auto path = path_of(activity);
  if (event.cause != 0 && path == Path::kRequest) add(Group::kCause, event.cause);
  enter_core(index);
  if (path == Path::kHostWait) add(Group::kHostTask, event.track);
  if (activity == Activity::kMmioRead || activity == Activity::kConfigAccess) {
    add(Group::kHostTask, UINT64_MAX);
  }
  if (activity == Activity::kInterrupt || activity == Activity::kInterruptHandler ||
      activity == Activity::kHostWrite) {
    add(Group::kSignals, 0);
  }
  if (path == Path::kCall) add(Group::kDriverCalls, 0);
  if (activity == Activity::kCpuBusy &&
      std::find(host_tracks_.begin(), host_tracks_.end(), event.track) == host_tracks_.end()) {
    host_tracks_.push_back(event.track);
  }
  add(Group::kTrack, event.track);
  add(Group::kCard, card_and(event.track, activity));
}

void PathEvents::enter_core(Index index) {
  const PathEvent& event = events_[index];
  const auto core = core_of(event.track);
  const auto add = [this, index](Group group) { lists_[group.kind][group.value].push_back(index); };
  switch (event.activity) {
    case Activity::kPipe:
    case Activity::kCopyPath:
      add({Group::kCore, core});
      add({Group::kLaunch, event.cause});
      return add(pipe_group(core, platform::pipe_of(event.detail)));
    case Activity::kTaskSetup:
      add({Group::kCore, core});
      return add({Group::kSetup, core});
    case Activity::kScalarWait:
      return add({Group::kScalar, core});
    case Activity::kKernelCall:
      return add({Group::kPrograms, core});
    case Activity::kKernelBlock:
      add({Group::kPrograms, core});
      return add({Group::kPhases, event.cause});
    case Activity::kAicpuDrain:
    case Activity::kAicpuComplete:
    case Activity::kAicpuDispatch:
      return add({Group::kPhases, event.cause});
    default:
      return;
  }
}

const std::vector<PathEvents::Index>* PathEvents::list(Group group) const {
  const auto lists = lists_.find(group.kind);
  if (lists == lists_.end()) return nullptr;
  const auto found = lists->second.find(group.value);
  return found == lists->second.end() ? nullptr : &found->second;
}

PathEvents::Index PathEvents::latest(Group group, std::int64_t when, Index below) const {
  const auto* const found = list(group);
  if (found == nullptr) return kNone;
  auto behind = std::upper_bound(
      found->begin(), found->end(), when,
      [this](std::int64_t time, Index index) { return time < events_[index].end; });
  while (behind != found->begin() && *std::prev(behind) >= below) --behind;
  return behind == found->begin() ? kNone : *std::prev(behind);
}

PathEvents::Index PathEvents::around(Group group, std::int64_t when) const {
  constexpr std::ptrdiff_t kFar = 64;  // nested and parallel ones, at most about so many
  const auto* const found = list(group);
  if (found == nullptr) return kNone;
  const auto first = std::lower_bound(
      found->begin(), found->end(), when,
      [this](Index index, std::int64_t time) { return events_[index].end < time; });
  for (auto it = first; it != found->end() && it - first < kFar; ++it) {
    if (events_[*it].begin < when) return *it;
  }
  return kNone;
}

PathEvents::Index PathEvents::after(Group group, std::int64_t when) const {
  const auto* const found = list(group);
  if (found == nullptr) return kNone;
  const auto first = std::upper_bound(
      found->begin(), found->end(), when,
      [this](std::int64_t time, Index index) { return time < events_[index].end; });
  return first == found->end() ? kNone : *first;
}

}  // namespace npu::timeline
