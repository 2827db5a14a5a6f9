// SPDX-License-Identifier: Apache-2.0
// Host memory as devices reach it: the IOMMU, behind it the memory, beside them the faults and who
// waits for writes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "model/config/system_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/core/work_watch.hpp"
#include "model/host/dma_pages.hpp"
#include "model/host/iommu.hpp"
#include "model/host/iommu_fault_log.hpp"
#include "model/host/iommu_walker.hpp"
#include "model/host/numa_memory.hpp"
#include "model/host/page_requests.hpp"
#include "model/host/process_tables.hpp"
#include "model/host/watch_list.hpp"
#include "model/host/weak_order.hpp"

namespace npu::model {

class HostMemory : public HostMemoryPort {
 public:
  // `node_of` tells the NUMA node a requester's host bridge sits on.
  HostMemory(Simulation& simulation, const HostMemoryConfig& config,
             std::function<int(std::uint32_t)> node_of);

  // Zeroed memory on `node`, mapped for `requester`; null data when the node is full. `alignment`
  // is a power of two, at least 4 KiB, of the bus address.
  Iommu::Mapping map(std::uint32_t requester, Bytes size, Bytes alignment,
                     platform::DmaDirection direction, int node);
  // Memory that somebody else keeps, at a free bus address; null data when the node is full.
  Iommu::Mapping import(std::uint32_t requester, ByteSpan memory, platform::DmaDirection direction,
                        int node, bool fresh);
  // Memory that somebody else keeps until unmap(), at a bus address of their choice. False:
  // [bus, bus + size) meets a mapping of the function.
  bool map_at(std::uint32_t requester, std::uint64_t bus, ByteSpan memory,
              platform::DmaDirection direction) {
    return iommu_.map({requester, bus, memory, direction});
  }
  // The pages of [bus, bus + size). What map() gave may be freed when all of it is unmapped. What
  // the function has cached of it is stale (HostPlatform::unmap).
  void unmap(std::uint32_t requester, std::uint64_t bus, Bytes size) {
    iommu_.unmap(requester, bus, size);
    walker(requester).invalidate(requester, bus, size);
  }
  // As Iommu::retire: before the function is told to drop what it has cached.
  void retire(std::uint32_t requester, std::uint64_t bus, Bytes size) {
    iommu_.retire(requester, bus, size);
    walker(requester).invalidate(requester, bus, size);
  }
  // The same of a process' addresses.
  void unmap_process(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address,
                     Bytes size);
  void retire_process(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address,
                      Bytes size);
  // The function never said that it has dropped what it had cached of a mapping at `bus`.
  void not_invalidated(std::uint32_t requester, std::uint64_t bus, std::uint64_t cause) {
    faults_.record({sim_now(), requester, 0, bus, true, Completion::kTimeout}, cause);
  }
  void free(ByteSpan memory) { memory_.free(memory); }

  Access access(DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
                std::uint64_t cause) override;
  Access reach(DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
               std::uint64_t cause) override;
  std::byte* find(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address, Bytes length,
                  bool device_writes) override;
  void page_requested(DmaRequester requester, std::uint64_t address,
                      const PageRequestMessage& request, std::uint64_t cause) override;
  void written(const std::byte* data, Bytes length, std::uint64_t cause) override {
    if (detail::work_watch != nullptr) detail::work_watch->landed(cause, length);
    if (weak_ != nullptr) weak_->memory().written(data, length);
    watches_.written(data, length);
  }
  // The next read or translation request of a function on PCI bus `bus` is refused, as if its page
  // were not mapped. A fault for tests.
  void refuse_next(std::uint16_t bus) { refused_bus_ = bus; }
  bool refuses_next() const { return refused_bus_ != kNoBus; }
  // What programs store is seen by devices in this order; null: at once.
  void order(WeakOrder* weak) { weak_ = weak; }

  Iommu& iommu() { return iommu_; }
  ProcessTables& processes() { return processes_; }
  PageRequests& page_requests() { return page_requests_; }
  NumaMemory& memory() { return memory_; }
  const HostMemoryConfig& config() const { return memory_.config(); }
  // One for each node's host bridges.
  const std::deque<IommuWalker>& walkers() const { return walkers_; }
  const DmaPages& pages() const { return pages_; }
  WatchList& watches() { return watches_; }
  const IommuFaultLog& faults() const { return faults_; }

 private:
  // What a request means.
  struct Found {
    Completion status = Completion::kUnsupportedRequest;
    const Iommu::Mapping* mapping = nullptr;  // null unless kSuccess, or nothing to a translation
    std::uint32_t pasid = 0;                  // in whose tables; 0: the function's
  };
  Access locate(const DmaRequester& requester, std::uint64_t bus, Bytes length, bool device_writes,
                std::uint64_t cause);
  Found look_up(const DmaRequester& requester, std::uint64_t bus, Bytes length, bool device_writes);
  IommuWalker& walker(std::uint32_t requester) {
    return walkers_[static_cast<std::size_t>(node_of_(requester))];
  }

  static constexpr unsigned kNoBus = 0x1'0000;

  bool refuses(const DmaRequester& requester, std::uint64_t bus, bool device_writes,
               std::uint64_t cause);

  const Picoseconds iommu_lookup_;
  unsigned refused_bus_ = kNoBus;
  const DmaPages pages_;
  std::function<int(std::uint32_t)> node_of_;
  Iommu iommu_;
  ProcessTables processes_;
  PageRequests page_requests_;
  NumaMemory memory_;
  std::deque<IommuWalker> walkers_;  // by node
  WatchList watches_;
  WeakOrder* weak_ = nullptr;
  IommuFaultLog faults_;
};

}  // namespace npu::model
