// SPDX-License-Identifier: Apache-2.0
#include "model/core/recorder.hpp"

#include <algorithm>

namespace npu::model {

std::uint32_t Recorder::track(std::string_view name) {
  if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

void Recorder::add(platform::TraceSink& sink) {
  sinks_.push_back(&sink);
  enabled_ = true;
}

void Recorder::remove(platform::TraceSink& sink) {
  sinks_.erase(std::remove(sinks_.begin(), sinks_.end(), &sink), sinks_.end());
  enabled_ = !sinks_.empty();
}

}  // namespace npu::model
