// SPDX-License-Identifier: Apache-2.0
// Walks of the IOMMU's tables in host memory, for pages that the IOTLB does not hold. A request for
// a page that is being walked for waits for that walk.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/host/iotlb.hpp"
#include "model/host/numa_memory.hpp"

namespace npu::model {

class IommuWalker {
 public:
  // The tables are read from `memory`.
  IommuWalker(const HostMemoryConfig& config, NumaMemory& memory);

  // A request of a function behind `node` begins now; how long it waits for a walk, behind the
  // look-up. 0: the page is there.
  SimTime translate(const IommuPage& page, int node);
  // The walk has found nothing, of which nothing is kept.
  void found_nothing(const IommuPage& page) { tlb_.drop(page); }
  // The tables no longer say what they said for [bus, bus + size).
  void invalidate(std::uint32_t requester, std::uint64_t bus, Bytes size) {
    tlb_.drop(requester, bus, size);
  }
  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }  // walks

 private:
  const SimTime lookup_;
  NumaMemory& memory_;
  Iotlb tlb_;
  std::vector<SimTime> free_at_;  // by walker
  std::uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace npu::model
