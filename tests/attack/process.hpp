// SPDX-License-Identifier: Apache-2.0
// One attacker: its address spaces, streams and events on all cards, and its choices.
#pragma once

#include <memory>
#include <vector>

#include "tests/attack/reference.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::attack {

struct StreamModel {
  driver::StreamId id;
  unsigned card = 0;
  SpaceModel* space = nullptr;
  bool interrupt = true;
};

struct EventModel {
  driver::EventId id;
  unsigned card = 0;
};

struct Process {
  Process(World& shared, std::uint64_t seed) : world(shared), random(seed) {}

  World& world;
  fuzz::Random random;
  std::vector<std::unique_ptr<SpaceModel>> spaces;
  std::vector<StreamModel> streams;
  std::vector<EventModel> events;
  // Given back: nothing of it may work any more.
  std::vector<DeviceAddress> stale_addresses;
  std::vector<MemoryHandle> stale_handles;

  driver::Device& card(unsigned index) const { return *world.cards[index]; }
  SpaceModel& any_space() { return *random.in(spaces); }
  template <class Map>
  auto any(Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(random.below(map.size())));
  }
  // Small as a rule.
  Bytes any_pages() {
    if (random.percent(75)) return 1 + random.below(6);
    return random.percent(80) ? 1 + random.below(40) : 1 + random.below(256);
  }
  // As many small ones as large ones: 1 byte to `limit`.
  Bytes any_size(Bytes limit) {
    const Bytes scale = Bytes{1} << random.below(23);
    return std::min(limit, scale + random.below(scale));
  }
  void keep_stale(DeviceAddress address) {
    if (stale_addresses.size() < 64) return stale_addresses.push_back(address);
    stale_addresses[random.below(64)] = address;
  }
  void keep_stale(MemoryHandle handle) {
    if (stale_handles.size() < 64) return stale_handles.push_back(handle);
    stale_handles[random.below(64)] = handle;
  }
};

}  // namespace npu::attack
