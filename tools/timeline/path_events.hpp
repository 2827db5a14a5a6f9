// SPDX-License-Identifier: Apache-2.0
// The events that a critical path may lead through, in memory, to be looked up by their ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "npu/platform/core_events.hpp"
#include "npu/platform/trace.hpp"

namespace npu::timeline {

struct PathEvent {
  std::int64_t begin, end;  // ps
  std::uint64_t cause;
  std::uint64_t detail;
  std::uint32_t track;
  platform::Activity activity;
};

class PathEvents : public platform::TraceSink {
 public:
  using TrackName = std::function<std::string(std::uint32_t track)>;
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  static constexpr std::size_t kMost = std::size_t{6} << 20;  // 240 MiB

  // Keeps so many at most, the younger ones.
  explicit PathEvents(std::size_t most = kMost) : most_(most) {}

  void on_event(const platform::TraceEvent& event) override;
  // Once, before anything is looked up.
  void sort(const TrackName& track_name);

  // What events have in common when one waits for another.
  struct Group {
    enum Kind : std::uint8_t {
      kCause,        // requests: what the card did for one
      kTrack,        // of a unit
      kCore,         // pipes and set-ups of one core; value: core_of()
      kPipe,         // instructions of one pipe; see pipe_group()
      kScalar,       // what the scalar unit of one core waited for; value: core_of()
      kSetup,        // task set-ups of one core; value: core_of()
      kPrograms,     // blocks and calls of one core; value: core_of()
      kLaunch,       // instructions of a launch on all cores; value: cause
      kPhases,       // blocks of a launch, and phases of an AICPU; value: cause
      kHostTask,     // of a track of a host task: what it waits in; see host_tracks()
      kDriverCalls,  // calls, submissions and waits; value 0
      kSignals,      // what wakes the host: interrupts and writes of its memory; value 0
      kCard,         // one activity on one card; value: card_and()
    } kind;
    std::uint64_t value;
  };

  const PathEvent& operator[](Index index) const { return events_[index]; }
  std::size_t size() const { return events_.size(); }
  // Before this time events were too many to be kept.
  std::int64_t known_from() const { return known_from_; }
  const std::vector<std::uint32_t>& host_tracks() const { return host_tracks_; }
  std::uint32_t core_of(std::uint32_t track) const { return places_.at(track).core; }
  std::uint64_t card_and(std::uint32_t track, platform::Activity activity) const {
    return std::uint64_t{places_.at(track).card} << 32 | static_cast<std::uint64_t>(activity);
  }

  static Group pipe_group(std::uint32_t core, platform::Pipe pipe) {
    return {Group::kPipe, std::uint64_t{core} << 8 | static_cast<std::uint64_t>(pipe)};
  }

  bool any(Group group) const { return list(group) != nullptr; }
  // The event of the group with the latest end <= `when`, of those before `below` in the order of
  // ends and begins.
  Index latest(Group group, std::int64_t when, Index below = kNone) const;
  // The first to end of those that have begun before `when` and end at or after it.
  Index around(Group group, std::int64_t when) const;
  // The first to end after `when`.
  Index after(Group group, std::int64_t when) const;

 private:
  using Lists = std::unordered_map<std::uint64_t, std::vector<Index>>;
  struct Place {
    std::uint32_t core = 0, card = 0;  // numbers of name prefixes
  };
  const std::vector<Index>* list(Group group) const;
  void enter(Index index);
  void enter_core(Index index);

  const std::size_t most_;
  std::vector<PathEvent> events_;
  std::map<Group::Kind, Lists> lists_;
  std::unordered_map<std::uint32_t, Place> places_;  // by track
  std::vector<std::uint32_t> host_tracks_;
  std::int64_t known_from_ = 0;
};

}  // namespace npu::timeline
