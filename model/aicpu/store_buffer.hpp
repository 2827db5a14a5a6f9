// SPDX-License-Identifier: Apache-2.0
// Bytes that a core has stored and that nobody else sees yet, in their order. The core itself sees
// them: what it loads from memory is patched with them.
#pragma once

#include <array>
#include <cstring>
#include <deque>

#include "model/aicpu/coherent_cache.hpp"
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

    bool overlaps(std::uint64_t begin, Bytes size) const {
      return address < begin + size && begin < address + length;
    }
  };

  void push(std::uint64_t address, const void* data, Bytes length, DeviceMemoryPort::Hold hold) {
    stores_.push_back({address, length, hold, {}});
    std::memcpy(stores_.back().bytes.data(), data, length);
  }
  bool empty() const { return stores_.empty(); }
  const Store& oldest() const { return stores_.front(); }
  void pop() { stores_.pop_front(); }

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
