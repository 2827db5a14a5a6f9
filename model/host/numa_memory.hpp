// SPDX-License-Identifier: Apache-2.0
// The host's memory: nodes of one size, of which memory for devices is taken and given back.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/simulation.hpp"
#include "model/host/memory_bus.hpp"
#include "npu/base/byte_span.hpp"

namespace npu::model {

class NumaMemory {
 public:
  explicit NumaMemory(const HostMemoryConfig& config);
  NumaMemory(const NumaMemory&) = delete;
  NumaMemory& operator=(const NumaMemory&) = delete;
  // What nobody has given back goes, too.
  ~NumaMemory();

  // Zeroed memory on `node`, whole pages of 4 KiB; null data when the node is full.
  ByteSpan allocate(Bytes size, int node);
  // Memory that somebody else keeps counts as that of `node` until free(), which is called as often
  // as this. `fresh`: it fills the node up; else it was there before. False: the node is full, or
  // some of it is part of other memory.
  bool adopt(ByteSpan memory, int node, bool fresh);
  // What allocate() gave or adopt() took; false: it was neither, and nothing happens.
  bool free(ByteSpan memory);

  const HostMemoryConfig& config() const { return config_; }
  unsigned nodes() const { return config_.numa_nodes; }
  Bytes used(int node) const { return used_[static_cast<std::size_t>(node)]; }
  // A request for `bytes` of `node` now: how long it waits for what others move.
  SimTime take(int node, Bytes bytes) {
    return buses_[static_cast<std::size_t>(node)].take(sim_now(), bytes);
  }
  const MemoryBus& bus(int node) const { return buses_[static_cast<std::size_t>(node)]; }
  // The node of what allocate() gave or adopt() took; -1: of neither.
  int node_of(const std::byte* data) const;
  // Of an access of a device behind `from` to memory on `node`, behind the IOMMU.
  Picoseconds latency(bool device_writes, int from, int node) const;

 private:
  struct Block {
    ByteSpan memory;
    int node;
    bool own = true;      // else it is somebody else's
    bool counted = true;  // in used_
    unsigned users = 1;
  };
  HostMemoryConfig config_;
  std::vector<Bytes> used_;       // by node
  std::vector<MemoryBus> buses_;  // by node
  std::map<std::byte*, Block> blocks_;
};

}  // namespace npu::model
