// SPDX-License-Identifier: Apache-2.0
// Hands events on in a thread of its own, so that what is made of them costs the simulation little.
// The order stays; at most a few batches wait, then the simulation does.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::timeline {

class Deferred : public platform::TraceSink {
 public:
  using TrackName = std::function<std::string(std::uint32_t track)>;

  // `consumers` hear every event, in their order; they may ask name() meanwhile and after finish().
  // `track_name` is called where events come from.
  Deferred(std::vector<platform::TraceSink*> consumers, TrackName track_name);
  ~Deferred() override;
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  void on_event(const platform::TraceEvent& event) override {
    if (event.track >= known_tracks_) learn(event.track);
    batch_.events.push_back(event);
    if (batch_.events.size() == kBatch) hand_over();
  }
  // The consumers have heard everything. Once; no event comes behind it.
  void finish();
  // For the consumers, and after finish().
  const std::string& name(std::uint32_t track) const { return names_[track]; }
  // After finish(): of all tracks that had events, and of those with lower ids.
  const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr std::size_t kBatch = 4096;
  static constexpr std::size_t kMostWaiting = 8;
  struct Batch {
    std::vector<std::string> names;  // of tracks that appear in it for the first time
    std::vector<platform::TraceEvent> events;
  };

  void learn(std::uint32_t track);
  void hand_over();
  void serve();

  const std::vector<platform::TraceSink*> consumers_;
  const TrackName track_name_;
  Batch batch_;
  std::uint32_t known_tracks_ = 0;
  std::vector<std::string> names_;  // the thread's until it has ended

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
  std::vector<Batch> spare_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace npu::timeline
