// SPDX-License-Identifier: Apache-2.0
#include "model/host/iommu_walker.hpp"

#include <algorithm>

#include "model/host/dma_pages.hpp"

namespace npu::model {
namespace {

constexpr Bytes kLine = 64;  // a table entry comes with its cache line

}  // namespace

IommuWalker::IommuWalker(const HostMemoryConfig& config, NumaMemory& memory)
    : lookup_(ticks(config.iommu_lookup)),
      memory_(memory),
      tlb_(config.iotlb_entries),
      free_at_(config.iommu_walkers) {}

SimTime IommuWalker::translate(const IommuPage& page, int node) {
  const SimTime looked_up = sim_now() + lookup_;
  if (const SimTime* const walked = tlb_.find(page)) {
    ++hits_;
    return *walked > looked_up ? *walked - looked_up : 0;
  }
  ++misses_;
  auto& walker = *std::min_element(free_at_.begin(), free_at_.end());
  const unsigned levels = DmaPages::levels(page.size);
  const SimTime bus_free = sim_now() + memory_.take(node, levels * kLine);
  walker =
      std::max({looked_up, walker, bus_free}) + levels * ticks(memory_.latency(false, node, node));
  tlb_.insert(page, walker);
  return walker - looked_up;
}

}  // namespace npu::model
