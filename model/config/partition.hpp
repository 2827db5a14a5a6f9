// SPDX-License-Identifier: Apache-2.0
// What of a card belongs to one function: the physical one of a card that is not divided has all,
// and otherwise what it has not lent to its virtual functions. Address spaces are not counted here:
// every function has kVmids of its own (core/space_id.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "npu/abi/queue_descriptor.hpp"
#include "npu/base/checked.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

struct MemoryRange {
  Bytes begin = 0, size = 0;
};

struct Partition {
  // Device memory [memory_base, memory_base + memory). The function and whoever works for it count
  // addresses from 0; what reaches beyond `memory` is refused. Whole pages of 2 MiB.
  Bytes memory_base = 0;
  Bytes memory = 0;
  Bytes usable = 0;                          // HBM_SIZE; the rest is reserved for the card
  unsigned first_cluster = 0, clusters = 0;  // of AI Cores (core_layout.hpp)
  unsigned first_aicpu = 0, aicpus = 0;
  unsigned doorbell_pages = 0;
  unsigned first_engine = 0, dma_engines = 0;  // engines may be shared with other functions
  // Of these, what others have: clusters, AICPUs, and memory, in its own addresses.
  std::array<std::uint64_t, abi::kCoreMaskWords> lent_clusters{};
  std::uint64_t lent_aicpus = 0;
  std::vector<MemoryRange> lent_memory{};

  bool has_cluster(unsigned cluster) const {
    const unsigned place = cluster - first_cluster;
    return place < clusters && (lent_clusters[cluster / 64] >> cluster % 64 & 1) == 0;
  }
  unsigned own_clusters() const {
    unsigned count = clusters;
    for (const auto word : lent_clusters)
      count -= static_cast<unsigned>(__builtin_popcountll(word));
    return count;
  }
  // Those of the card's, in its driver's order.
  std::vector<unsigned> own_aicpus() const {
    std::vector<unsigned> owned;
    for (unsigned i = first_aicpu; i < first_aicpu + aicpus; ++i) {
      if ((lent_aicpus >> i & 1) == 0) owned.push_back(i);
    }
    return owned;
  }
  // [address, address + length), in its own addresses.
  bool has_memory(Bytes address, Bytes length) const {
    if (!range_fits(address, length, memory)) return false;
    for (const auto& lent : lent_memory) {
      if (address < lent.begin + lent.size && address + length > lent.begin) return false;
    }
    return true;
  }
};

}  // namespace npu::model
