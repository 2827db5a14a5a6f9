// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/deferred.hpp"

#include <utility>

namespace npu::timeline {

Deferred::Deferred(std::vector<platform::TraceSink*> consumers, TrackName track_name)
    : consumers_(std::move(consumers)), track_name_(std::move(track_name)) {
  batch_.events.reserve(kBatch);
  thread_ = std::thread([this] { serve(); });
}

Deferred::~Deferred() {
  finish();
}

void Deferred::learn(std::uint32_t track) {
  for (; known_tracks_ <= track; ++known_tracks_) {
    batch_.names.push_back(track_name_(known_tracks_));
  }
}

void Deferred::hand_over() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kMostWaiting; });
  waiting_.push_back(std::move(batch_));
  batch_ = {};
  if (!spare_.empty()) {
    batch_ = std::move(spare_.back());
    spare_.pop_back();
  }
  changed_.notify_all();
}

void Deferred::serve() {
  for (;;) {
    Batch batch;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch = std::move(waiting_.front());
      waiting_.pop_front();
      changed_.notify_all();
    }
    for (auto& name : batch.names) names_.push_back(std::move(name));
    for (const auto& event : batch.events) {
      for (auto* const consumer : consumers_) consumer->on_event(event);
    }
    batch.names.clear();
    batch.events.clear();
    const std::lock_guard<std::mutex> lock(mutex_);
    spare_.push_back(std::move(batch));
  }
}

void Deferred::finish() {
  if (!thread_.joinable()) return;
  hand_over();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

}  // namespace npu::timeline
