// SPDX-License-Identifier: Apache-2.0
// What bounded a run: the way back from its end to its begin, along what each step waited for. Each
// instant of the run belongs to one segment, so that the segments add up to its time.
//
// The way leads along the host task that was busy last. While that computes, its software is the
// segment, named by the driver call it is in; while it polls or is blocked for a request, the way
// goes through the request: from its completion back to its submission. What an event of a request
// waited for is the event of the same request that ended last before it began, or what kept its
// unit until then, whichever was later. A launch leads into its program (core_path.hpp) and from
// the begin of that to its dispatch, or to the program that had the core; an entry of a queue that
// waited to what ended then. Before a task's first instruction is the scheduler's dispatch, and
// before an AICPU that was idle the task that ended last. What no event tells of is a segment "A to
// B", named by its neighbours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/timeline/path_events.hpp"
#include "tools/timeline/path_trail.hpp"

namespace npu::timeline {

struct PathPart {
  std::string name, unit;  // "*" in the unit for any number: "card0.aicore*.cube"
  Picoseconds time;
  std::uint64_t segments;
};

// Of the run [0, end). `events` are sorted. In the order of time, without gaps or overlaps.
std::vector<PathSegment> critical_path(const PathEvents& events,
                                       const PathEvents::TrackName& track_name, Instant end);

// Of [begin, end), from the program that was the last to end there, through what it and those
// before it waited for; what comes before the first of them is "launch".
std::vector<PathSegment> launch_path(const PathEvents& events,
                                     const PathEvents::TrackName& track_name, Instant begin,
                                     Instant end);

// What of them lies in [begin, end).
std::vector<PathSegment> clipped(const std::vector<PathSegment>& segments, Instant begin,
                                 Instant end);

// The segments by name and unit, the longest first.
std::vector<PathPart> path_parts(const std::vector<PathSegment>& segments);

}  // namespace npu::timeline
