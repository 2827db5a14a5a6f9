// SPDX-License-Identifier: Apache-2.0
// Bytes that a core has stored and that nobody else sees yet, in their order. The core itself sees
// them: what it loads from memory is patched with them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "model/aicpu/coherent_cache.hpp"
#include "model/core/agenda.hpp"
#include "model/core/device_memory_port.hpp"

namespace npu::model {

class StoreBuffer {
 public:
  // Within a line.
  struct Store {
    std::uint64_t address;
    Bytes length;
    DeviceMemoryPort::Hold hold;
    std::array<unsigned char, CoherentCache::kLine> bytes;
    SimTime leaves;  // 0: in its order

    bool overlaps(std::uint64_t begin, Bytes size) const {
      return address < begin + size && begin < address + length;
    }
  };

  void push(std::uint64_t address, const void* data, Bytes length, DeviceMemoryPort::Hold hold,
            SimTime leaves = 0) {
    stores_.push_back({address, length, hold, {}, leaves});
    std::memcpy(stores_.back().bytes.data(), data, length);
  }
  bool empty() const { return stores_.empty(); }
  const Store& oldest() const { return stores_.front(); }
  void pop() { stores_.pop_front(); }
  // The oldest of those that leave by `now`, of which there is one.
  using Place = std::deque<Store>::iterator;
  Place due(SimTime now) {
    return std::find_if(stores_.begin(), stores_.end(),
                        [now](const Store& store) { return store.leaves <= now; });
  }
  void erase(const Place& store) { stores_.erase(store); }
  // When the last one leaves that has bytes of [begin, begin + size); 0: none has.
  SimTime last_of(std::uint64_t begin, Bytes size) const {
    SimTime last = 0;
    for (const auto& store : stores_) {
      if (store.overlaps(begin, size)) last = std::max(last, store.leaves);
    }
    return last;
  }

  // What the core sees of the line at `address`, of which `line` is what memory has.
  void patch(std::uint64_t address, unsigned char* line) const {
    for (const auto& store : stores_) {
      if (!store.overlaps(address, CoherentCache::kLine)) continue;
      std::memcpy(line + (store.address - address), store.bytes.data(), store.length);
    }
  }

 private:
  std::deque<Store> stores_;
};

}  // namespace npu::model
