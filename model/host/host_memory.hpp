// SPDX-License-Identifier: Apache-2.0
// Host memory that devices may reach, and the IOMMU in front of it. Every function has an address
// space of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/platform/memory.hpp"

namespace npu::model {

// A DMA request the IOMMU refused; nothing was read or written.
struct IommuFault {
  SimTime when;
  std::uint16_t requester;  // packed BDF
  std::uint32_t pasid;
  std::uint64_t bus;
  bool device_writes;
  Completion reason;  // kUnsupportedRequest: no mapping; kPermission: wrong direction
};

// Told when a device has written into a range of host memory.
class MemoryWatcher {
 public:
  virtual ~MemoryWatcher() = default;
  virtual void memory_written() = 0;
};

class HostMemory : public HostMemoryPort {
 public:
  // `node_of` tells the NUMA node a requester's host bridge sits on.
  HostMemory(Simulation& simulation, const HostMemoryConfig& config,
             std::function<int(std::uint16_t)> node_of);
  ~HostMemory() override;

  // Zeroed memory on `node`, mapped for `requester`; null data when the node is full. `alignment`
  // is a power of two, at least 4 KiB, of the bus address.
  struct Mapping {
    std::uint16_t requester = 0;
    ByteSpan cpu;
    std::uint64_t bus = 0;
    platform::DmaDirection direction = platform::DmaDirection::kBidirectional;
    int node = 0;
    std::uint32_t pasid = 0;  // the only one to reach it, beside requests without PASID
    bool is_lent = false;     // somebody else's memory, map_at()
  };
  Mapping map(std::uint16_t requester, Bytes size, Bytes alignment,
              platform::DmaDirection direction, int node);
  // Memory that somebody else keeps until unmap(), at a bus address of their choice. False:
  // [bus, bus + size) meets a mapping of the function.
  bool map_at(std::uint16_t requester, std::uint64_t bus, ByteSpan memory,
              platform::DmaDirection direction);
  // `bus` is the start of a mapping of the function.
  void unmap(std::uint16_t requester, std::uint64_t bus);
  void bind(std::uint16_t requester, std::uint64_t bus, std::uint32_t pasid);
  // Called with the requester whose mapping went away: its address translation cache is stale.
  void on_unmap(std::function<void(std::uint16_t)> listener) {
    unmap_listener_ = std::move(listener);
  }

  void watch(ConstByteSpan range, MemoryWatcher& watcher);
  void unwatch(MemoryWatcher& watcher);

  Access access(DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
                std::uint64_t cause) override;
  void written(const std::byte* data, Bytes length, std::uint64_t cause) override;

  // The first kKeptFaults of them.
  const std::vector<IommuFault>& faults() const { return faults_; }
  std::uint64_t fault_count(std::uint16_t requester) const;
  unsigned nodes() const { return config_.numa_nodes; }
  Bytes used(int node) const { return used_[static_cast<std::size_t>(node)]; }

 private:
  struct Watch {
    const std::byte* begin;
    const std::byte* end;
    MemoryWatcher* watcher;
  };
  const Mapping* find(DmaRequester requester, std::uint64_t bus);
  Access refuse(DmaRequester requester, std::uint64_t bus, bool device_writes, Completion reason,
                std::uint64_t cause, Picoseconds latency);

  Simulation& simulation_;
  HostMemoryConfig config_;
  std::function<int(std::uint16_t)> node_of_;
  std::function<void(std::uint16_t)> unmap_listener_;
  using Place = std::pair<std::uint16_t, std::uint64_t>;  // function, bus address
  std::map<Place, Mapping> mappings_;
  const Mapping* last_ = nullptr;  // most accesses hit the mapping of the one before
  std::vector<Bytes> used_;
  std::vector<Watch> watches_;
  static constexpr std::size_t kKeptFaults = 4096;
  std::vector<IommuFault> faults_;
  std::map<std::uint16_t, std::uint64_t> fault_counts_;  // by requester
  std::uint64_t next_bus_ = 0x1'0000'0000;
  std::uint32_t track_;
};

}  // namespace npu::model
