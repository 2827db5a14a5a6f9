// SPDX-License-Identifier: Apache-2.0
// A limit of the device memory that one client may use, over all cards. A program creates it and
// passes it to each address space of the client (ProcessOptions::quota,
// Device::create_address_space()), which keeps a reference.
//
// Whole pages are charged: those of blocks that a space of the client creates (allocate(),
// create_memory(), DeviceHeap, kernel images) and those of managed memory that are on a card. The
// driver's own memory for queues and streams (rings, arguments) is free. A block is charged to its
// creator until nobody uses it. When the creator's space ends, the charge passes to a space of the
// card that still holds or maps the block, even above the limit.
//
// A new block or managed page first evicts the oldest managed pages of its address space from that
// card. If this is not enough, the request is refused and counted. A refused call fails with
// kOutOfMemory before it reaches the card. A refused access to a managed page faults. A limit below
// the present use revokes nothing, and new blocks fail until enough memory is free.
//
// All members may be called from several tasks at once.
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
  Bytes managed = 0;    // managed pages on cards (DeviceFeatures::managed_quota)
  Bytes most = 0;       // peak of used()
  std::uint64_t refused = 0;

  Bytes used() const { return allocated + managed; }
};

class NPU_API MemoryQuota {
 public:
  static constexpr Bytes kUnlimited = ~Bytes{0};
  enum class Kind : std::uint8_t { kAllocated, kManaged };

  explicit MemoryQuota(Bytes limit = kUnlimited) : limit_(limit) {}
  MemoryQuota(const MemoryQuota&) = delete;
  MemoryQuota& operator=(const MemoryQuota&) = delete;

  // In bytes, for later requests.
  void set_limit(Bytes limit) { limit_.store(limit, std::memory_order_relaxed); }
  Bytes limit() const { return limit_.load(std::memory_order_relaxed); }
  QuotaUse use() const;
  // The client's view of a card's memory: `total` is at most the limit, `free` at most the rest of
  // it, in whole pages.
  MemoryStatistics seen(MemoryStatistics card) const;

  // --- For the driver alone.
  // Charges memory before it is created. False: above the limit; counted as refused if `count`.
  bool charge(Bytes size, Kind kind, bool count = true);
  // Charges memory even above the limit.
  void force_charge(Bytes size, Kind kind);
  void uncharge(Bytes size, Kind kind);
  // Updates QuotaUse::most. Call it when memory charged by charge() has been created.
  void note_use();
  void count_refusal() { refused_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<Bytes>& part(Kind kind) { return kind == Kind::kManaged ? managed_ : allocated_; }

  std::atomic<Bytes> limit_;
  std::atomic<Bytes> used_{0}, allocated_{0}, managed_{0}, most_{0};
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace npu::driver
