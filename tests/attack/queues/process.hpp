// SPDX-License-Identifier: Apache-2.0
// One process that attacks: its context, lanes, and its choices.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/attack/queues/lane.hpp"

namespace npu::attack {

struct QueueProcess {
  QueueProcess(QueueWorld& shared, std::uint64_t seed) : world(shared), random(seed) {}

  QueueWorld& world;
  fuzz::Random random;
  bool disturbed = false;  // a second task holds queues now and then, but not for long

  driver::ProcessOptions options;
  std::unique_ptr<driver::ProcessContext> context;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::unique_ptr<driver::Queue> healer;  // records what others have not
  driver::DeviceAddress kernel;           // image of the one that adds
  driver::StreamId stream;
  std::unique_ptr<platform::DmaMemory> staging;  // of the stream
  std::unique_ptr<platform::DmaMemory> read_only;
  unsigned evictions = 0;
  bool heal_later = false;            // the healer was evicted when it should have recorded
  std::vector<driver::QueueId> gone;  // ids of queues that are destroyed
  std::uint64_t faults = 0, handled = 0;
  const std::vector<std::unique_ptr<QueueProcess>>* all = nullptr;

  driver::Device& card() const { return world.card(); }
  std::size_t queues() const {
    return static_cast<std::size_t>(std::count_if(
               lanes.begin(), lanes.end(), [](const auto& l) { return l->queue != nullptr; })) +
           (healer ? 1 : 0);
  }
  // Everything that is submitted comes to its end.
  bool flows() const {
    return evictions == 0 && !heal_later &&
           std::none_of(lanes.begin(), lanes.end(),
                        [](const auto& lane) { return lane->queue && lane->held(); });
  }
  bool runs(const Lane& lane) const { return evictions == 0 && !lane.held(); }
  // One with a queue; null: none.
  Lane* any_lane() {
    std::vector<Lane*> alive;
    for (const auto& lane : lanes) {
      if (lane->queue) alive.push_back(lane.get());
    }
    return alive.empty() ? nullptr : random.in(alive);
  }
  void find(const Lane& lane, const std::string& what) const {
    world.find(fmt::format("PASID {}, queue {} ({}{}): {}", context->pasid(),
                           lane.queue ? lane.queue->id().value : 9999,
                           lane.options.in_order ? "in order" : "unordered",
                           lane.poisoned ? fmt::format(", wrong: {}", lane.wrong.kind) : "", what));
  }
};

}  // namespace npu::attack
