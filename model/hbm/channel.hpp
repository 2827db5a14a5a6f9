// SPDX-License-Identifier: Apache-2.0
// One channel with its port: runs of bursts wait there in order of arrival, without bound, and
// enter the controller one per clock as its queues have room.
#pragma once

#include <memory>
#include <vector>

#include "model/hbm/address_map.hpp"
#include "model/hbm/burst_run.hpp"
#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {

class alignas(64) Channel {
 public:
  explicit Channel(const AddressMap& map) : map_(&map) {}

  // Without an engine it can do nothing. It goes on as an idle one, which nothing has come to yet.
  bool used() const { return engine_ != nullptr; }
  void use(const ChannelEngine& idle) { engine_ = std::make_unique<ChannelEngine>(idle); }

  // Runs come in order of `arrived`, not before a clock advanced to.
  void push(const BurstRun& run) { backlog_.push_back(run); }
  void advance(Clock until);
  // No burst that is waiting now is served before this clock; kNever if none waits.
  Clock earliest_service();

  // Nothing waits here or in the engine.
  bool idle() const { return empty() && engine_->idle(); }

  ChannelEngine& engine() { return *engine_; }
  const ChannelEngine& engine() const { return *engine_; }

 private:
  void feed_ahead(Clock until);
  void feed_turns_ahead(Clock until);
  Burst next_burst();
  BurstTurns next_turns();
  unsigned feed_idle(Clock at, Clock until);
  void fed(Clock at, unsigned bursts = 1);
  bool empty() const { return first_ == backlog_.size(); }

  // Small, so that what comes in finds all channels in the cache.
  const AddressMap* map_;
  std::unique_ptr<ChannelEngine> engine_;
  std::vector<BurstRun> backlog_;  // from first_ on; emptied or compacted as it drains
  std::size_t first_ = 0;
  Clock next_feed_ = 0;    // the port takes one burst per clock, when there is room
  std::uint32_t row_ = 0;  // of the last burst, and AddressMap::turned_over() of it
  unsigned turned_over_ = 0;
};

}  // namespace npu::model::hbm
