// SPDX-License-Identifier: Apache-2.0
// The simulator's Tracer: hands every event to the sinks that listen.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::model {

class Recorder : public platform::Tracer {
 public:
  std::uint32_t track(std::string_view name) override;
  void emit(const platform::TraceEvent& event) override {
    for (auto* sink : sinks_) sink->on_event(event);
  }
  // Whether a sink hears events of this activity.
  bool hears(platform::Activity activity) const {
    return heard_[static_cast<std::size_t>(activity)];
  }
  std::uint64_t exchange_cause(std::uint64_t cause) override {
    return std::exchange(*cause_slot_, cause);
  }

  // `slot` holds the cause of the task that runs from now on (model/host sets it).
  void set_cause_slot(std::uint64_t* slot) { cause_slot_ = slot; }
  std::uint64_t cause() const { return *cause_slot_; }

  // Sinks must outlive their listening.
  void add(platform::TraceSink& sink);
  void remove(platform::TraceSink& sink);
  const std::vector<std::string>& track_names() const { return names_; }

 private:
  void ask_sinks();

  std::vector<platform::TraceSink*> sinks_;
  std::array<bool, static_cast<std::size_t>(platform::Activity::kCount)> heard_{};
  std::vector<std::string> names_{"none"};
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::uint64_t no_task_ = 0;
  std::uint64_t* cause_slot_ = &no_task_;
};

}  // namespace npu::model
