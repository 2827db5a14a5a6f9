// SPDX-License-Identifier: Apache-2.0
// What bounded a run: the way back from its end to its begin, along what each step waited for. Each
// instant of the run belongs to one segment, so that the segments add up to its time.
//
// The way leads along the host task that was busy last. While that computes, its software is the
// segment, named by the driver call it is in; while it polls or is blocked for a request, the way
// goes through the request: from its completion back to its submission. What an event of a request
// waited for is the event of the same request that ended last before it began, or what kept its
// unit until then, whichever was later; on a core the core's own event before, before a task's
// first instruction the scheduler's dispatch, and before an AICPU that was idle the task that ended
// last. What no event tells of is a segment "A to B", named by its neighbours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/path_events.hpp"

namespace npu::timeline {

struct PathSegment {
  Instant begin, end;
  std::string name;  // "data_write", "software in dma_submit", "command to data_read"
  std::string unit;  // track; empty between units
};

struct PathPart {
  std::string name, unit;  // "*" in the unit for any number: "card0.aicore*.cube"
  Picoseconds time;
  std::uint64_t segments;
};

// Of the run [0, end). `events` are sorted. In the order of time, without gaps or overlaps.
std::vector<PathSegment> critical_path(const PathEvents& events,
                                       const PathEvents::TrackName& track_name, Instant end);

// The segments by name and unit, the longest first.
std::vector<PathPart> path_parts(const std::vector<PathSegment>& segments);

}  // namespace npu::timeline
