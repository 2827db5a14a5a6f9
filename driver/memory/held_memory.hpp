// SPDX-License-Identifier: Apache-2.0
// The physical memory that one address space holds by handles: made, imported, lent to other cards
// and borrowed from them, or the host's.
#pragma once

#include "driver/memory/physical_memory.hpp"

namespace npu::driver {

// A block that another card may reach.
struct LentMemory {
  std::uint64_t address = 0;  // device-local to its owner
  Bytes size = 0;
  PeerLease lease;
};

class HeldMemory {
 public:
  HeldMemory(PhysicalMemory& physical, unsigned vmid) : physical_(physical), vmid_(vmid) {}

  bool holds(MemoryHandle memory) const {
    const auto* const block = physical_.find(memory);
    return block != nullptr && block->held_by(vmid_);
  }
  // kInvalidArgument: it is not held.
  Status check(MemoryHandle memory) const;

  Result<MemoryHandle> create(Bytes size, bool pinned);
  Status release(MemoryHandle memory);
  void release_all() { physical_.release_all(vmid_); }
  // `mapped`: the space maps it, as it does plain memory, which it does not hold.
  Result<MemoryHandle> import(const HeldMemory& owner, MemoryHandle memory, bool mapped = false);
  // For another card; it may not be leased itself.
  Result<LentMemory> lend(MemoryHandle memory, bool mapped);
  Result<MemoryHandle> borrow(unsigned card, LentMemory memory);
  // Host memory that the function reaches at `bus`. kInvalidArgument: it is not aligned to a page.
  Result<MemoryHandle> hold_host(std::uint64_t bus, Bytes size);

 private:
  PhysicalMemory& physical_;
  const unsigned vmid_;
};

}  // namespace npu::driver
