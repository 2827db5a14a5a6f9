// SPDX-License-Identifier: Apache-2.0
// The critical path inside AI Cores: from the end of a program back along what its end followed
// from. An instruction began behind the one before it in its pipe, behind a flag, or when the
// scalar unit issued it; that did so when it had computed, or when what it stood still for had
// come. Time of a copy is told apart by what its bytes waited for.
#pragma once

#include "npu/platform/core_events.hpp"
#include "tools/timeline/path_events.hpp"
#include "tools/timeline/path_trail.hpp"

namespace npu::timeline {

class CorePath {
 public:
  CorePath(const PathEvents& events, const PathEvents::TrackName& track_name, PathTrail& trail)
      : events_(events), track_name_(track_name), trail_(trail) {}

  // Whether anything tells of what happened in the program, a kernel_block or kernel_call.
  bool knows(PathEvents::Index program) const;
  // From the trail's end, in `program`, back. The path goes on from the begin of the event that is
  // given: a block, perhaps of another core, or a task_setup.
  PathEvents::Index through(PathEvents::Index program);

 private:
  using Index = PathEvents::Index;
  enum class Next { kScalar, kInstruction, kBegan, kDone };

  const PathEvent& at(Index index) const { return events_[index]; }
  std::string core_name() const { return track_name_(at(program_).track); }
  void enter(Index program);
  bool leave_call();
  Next scalar();
  Next after_wait(const PathEvent& wait);
  Next instruction();
  Next began();
  Next pipe_ended(platform::Pipe pipe);
  Next pipe_went_on(platform::Pipe pipe);
  Next other_core();
  void take_copy(const PathEvent& copy);
  Next to(Index instruction, std::string gap);

  const PathEvents& events_;
  const PathEvents::TrackName& track_name_;
  PathTrail& trail_;
  Index program_ = PathEvents::kNone, instruction_ = PathEvents::kNone;
  Index setup_ = PathEvents::kNone;  // the call began with it
  Index wait_ = PathEvents::kNone;   // of the scalar unit, the last that was gone through
  std::uint32_t core_ = 0;
  std::int64_t floor_ = 0;  // where the program begins
};

}  // namespace npu::timeline
