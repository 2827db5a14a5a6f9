// SPDX-License-Identifier: Apache-2.0
// The events that a critical path may lead through, in memory, to be looked up by their ends: of
// one cause, of one unit, or of all that run programs on one card.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::timeline {

struct PathEvent {
  std::int64_t begin, end;  // ps
  std::uint64_t cause;
  std::uint32_t track;
  platform::Activity activity;
};

class PathEvents : public platform::TraceSink {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 23;  // 320 MiB
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;

  void on_event(const platform::TraceEvent& event) override;
  // Once, before anything is looked up.
  void sort();

  const PathEvent& operator[](Index index) const { return events_[index]; }
  std::size_t size() const { return events_.size(); }
  // From here on everything is known; before, events were too many.
  std::int64_t known_from() const { return known_from_; }

  // The event with the latest end <= `when`; of those that end together the one that began last.
  Index of_cause(std::uint64_t cause, std::int64_t when) const {
    return latest(by_cause_, cause, when);
  }
  Index of_track(std::uint32_t track, std::int64_t when) const {
    return latest(by_track_, track, when);
  }
  // The one that was under way on `track` before `when` and had not ended.
  Index under_way(std::uint32_t track, std::int64_t when) const;
  Index of_activity(platform::Activity activity, std::int64_t when) const {
    return latest(by_activity_, static_cast<std::uint64_t>(activity), when);
  }

 private:
  using Lists = std::unordered_map<std::uint64_t, std::vector<Index>>;
  Index latest(const Lists& lists, std::uint64_t key, std::int64_t when) const;

  std::vector<PathEvent> events_;
  Lists by_cause_, by_track_, by_activity_;
  std::int64_t known_from_ = 0;
};

}  // namespace npu::timeline
