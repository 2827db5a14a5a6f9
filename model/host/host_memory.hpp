// SPDX-License-Identifier: Apache-2.0
// Host memory as devices reach it: the IOMMU, behind it the memory, beside them the faults and who
// waits for writes.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "model/config/system_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/host/iommu.hpp"
#include "model/host/iommu_fault_log.hpp"
#include "model/host/numa_memory.hpp"
#include "model/host/watch_list.hpp"

namespace npu::model {

class HostMemory : public HostMemoryPort {
 public:
  // `node_of` tells the NUMA node a requester's host bridge sits on.
  HostMemory(Simulation& simulation, const HostMemoryConfig& config,
             std::function<int(std::uint16_t)> node_of);

  // Zeroed memory on `node`, mapped for `requester`; null data when the node is full. `alignment`
  // is a power of two, at least 4 KiB, of the bus address.
  Iommu::Mapping map(std::uint16_t requester, Bytes size, Bytes alignment,
                     platform::DmaDirection direction, int node);
  // Memory that somebody else keeps until unmap(), at a bus address of their choice. False:
  // [bus, bus + size) meets a mapping of the function.
  bool map_at(std::uint16_t requester, std::uint64_t bus, ByteSpan memory,
              platform::DmaDirection direction) {
    return iommu_.map({requester, bus, memory, direction});
  }
  // The pages of [bus, bus + size). What map() gave may be freed when all of it is unmapped.
  void unmap(std::uint16_t requester, std::uint64_t bus, Bytes size);
  void free(ByteSpan memory) { memory_.free(memory); }
  // Called with the requester whose mapping went away: its address translation cache is stale.
  void on_unmap(std::function<void(std::uint16_t)> listener) {
    unmap_listener_ = std::move(listener);
  }

  Access access(DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
                std::uint64_t cause) override;
  void written(const std::byte* data, Bytes length, std::uint64_t) override {
    watches_.written(data, length);
  }

  Iommu& iommu() { return iommu_; }
  const NumaMemory& memory() const { return memory_; }
  WatchList& watches() { return watches_; }
  const IommuFaultLog& faults() const { return faults_; }

 private:
  const Picoseconds iommu_lookup_;
  std::function<int(std::uint16_t)> node_of_;
  std::function<void(std::uint16_t)> unmap_listener_;
  Iommu iommu_;
  NumaMemory memory_;
  WatchList watches_;
  IommuFaultLog faults_;
};

}  // namespace npu::model
