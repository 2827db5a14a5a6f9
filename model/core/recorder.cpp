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
  ask_sinks();
}

void Recorder::remove(platform::TraceSink& sink) {
  sinks_.erase(std::remove(sinks_.begin(), sinks_.end(), &sink), sinks_.end());
  ask_sinks();
}

void Recorder::ask_sinks() {
  enabled_ = !sinks_.empty();
  for (std::size_t i = 0; i < heard_.size(); ++i) {
    heard_[i] = std::any_of(sinks_.begin(), sinks_.end(), [i](const platform::TraceSink* sink) {
      return sink->hears(static_cast<platform::Activity>(i));
    });
  }
}

}  // namespace npu::model
