// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/compaction_stages.hpp"

namespace npu::workloads {

CompactionStages::CompactionStages(Context& context) : source_(context.trace) {
  if (context.platform.tracer().enabled()) listening_.emplace(source_, *this);
}

// A compaction begins with its plan and, unless its gate could not be closed, ends with the resume.
void CompactionStages::on_event(const platform::TraceEvent& event) {
  if (event.activity != platform::Activity::kStage) return;
  constexpr std::string_view kTracks = ".compaction.";
  const std::string track = source_.track_name(event.track);
  const auto at = track.find(kTracks);
  if (at == std::string::npos) return;
  const auto name = track.substr(at + kTracks.size());
  if (name == "plan") parts_.clear();
  parts_.push_back({name, {event.begin, event.end}});
  if (name != "resume") return;
  pauses_.push_back({parts_.front().span.begin, event.end});
  last_ = std::move(parts_);
  parts_.clear();
}

}  // namespace npu::workloads
