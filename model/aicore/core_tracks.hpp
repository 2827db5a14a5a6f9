// SPDX-License-Identifier: Apache-2.0
// The trace tracks of a core: one for each pipe, one for waits of its scalar unit and one for what
// launches cost. A track is known to
// the recorder with its first event.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "model/core/recorder.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

class CoreTracks {
 public:
  CoreTracks(Recorder& recorder, std::string name) : recorder_(recorder), name_(std::move(name)) {}

  std::uint32_t of(platform::Pipe pipe) {
    static constexpr std::array<const char*, platform::kPipes> kNames{
        "", ".vector", ".cube", ".mte1", ".mte2", ".mte3", ".fixpipe"};
    const auto index = static_cast<std::size_t>(pipe);
    return known(pipes_[index], kNames[index]);
  }
  std::uint32_t scalar() { return known(scalar_, ".scalar"); }
  std::uint32_t setup() { return known(setup_, ".setup"); }

 private:
  std::uint32_t known(std::uint32_t& track, const char* suffix) {
    if (track == 0) track = recorder_.track(name_ + suffix);
    return track;
  }

  Recorder& recorder_;
  const std::string name_;
  std::array<std::uint32_t, platform::kPipes> pipes_{};
  std::uint32_t scalar_ = 0, setup_ = 0;
};

}  // namespace npu::model
