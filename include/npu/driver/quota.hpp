// SPDX-License-Identifier: Apache-2.0
// How much device memory a client may have: a limit over all cards, which address spaces are told
// of when they are made (ProcessOptions::quota, Device::create_address_space()).
//
// What counts are whole pages of every block that a space of the client has made, however
// (allocate(), create_memory(), DeviceHeap, images of kernels), until nobody uses the block any
// more, and of managed memory the pages that are on a card. What the driver keeps for queues and
// streams (rings, arguments) does not: a client gets what its quota says. A block that
// others have imported is its maker's as long as his space exists, and then theirs who still hold
// or map it, even over their limit. Memory of other cards' spaces counts where it was made.
//
// Blocks and managed pages that come make the client's oldest managed pages leave first. Without
// any that can, what is over the limit is refused and counted: a call fails with kOutOfMemory, and
// nothing is touched on the card; an access to a managed page fails. A limit that is lowered below
// what there is revokes nothing; new blocks fail until the others leave room.
#pragma once

#include <atomic>
#include <cstdint>

#include "npu/base/units.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/memory.hpp"

namespace npu::driver {

struct QuotaUse {
  Bytes limit = 0;      // MemoryQuota::kUnlimited: none
  Bytes allocated = 0;  // blocks
  Bytes managed = 0;    // managed pages on cards
  Bytes most = 0;       // that were there at a time
  std::uint64_t refused = 0;

  Bytes used() const { return allocated + managed; }
};

// All members may be called from several tasks at once. Spaces keep it.
class NPU_API MemoryQuota {
 public:
  static constexpr Bytes kUnlimited = ~Bytes{0};
  enum class Kind : std::uint8_t { kAllocated, kManaged };

  explicit MemoryQuota(Bytes limit = kUnlimited) : limit_(limit) {}
  MemoryQuota(const MemoryQuota&) = delete;
  MemoryQuota& operator=(const MemoryQuota&) = delete;

  // Bytes; holds for what comes later.
  void set_limit(Bytes limit) { limit_.store(limit, std::memory_order_relaxed); }
  Bytes limit() const { return limit_.load(std::memory_order_relaxed); }
  QuotaUse use() const;
  // What there is of a card's memory for the client: no more in total than the limit, and free no
  // more than what is left of it.
  MemoryStatistics seen(MemoryStatistics card) const;

  // --- The driver's.
  // False: over the limit; counted if `count`.
  bool charge(Bytes size, Kind kind, bool count = true);
  // Over the limit, too.
  void force_charge(Bytes size, Kind kind);
  void uncharge(Bytes size, Kind kind);
  // What take() was for is there: it counts in QuotaUse::most.
  void note_use();
  void count_refusal() { refused_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<Bytes>& part(Kind kind) { return kind == Kind::kManaged ? managed_ : allocated_; }

  std::atomic<Bytes> limit_;
  std::atomic<Bytes> used_{0}, allocated_{0}, managed_{0}, most_{0};
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace npu::driver
