// SPDX-License-Identifier: Apache-2.0
// The card's memory in blocks: who holds a block, how often it is mapped, where it lies now. A
// block lives as long as a space holds its handle, a mapping uses it or another card has it on
// lease. A block may also be another card's, leased from there, or the host's. What belongs to no
// block but may still be used by the card is in quarantine: neither free nor used. Not locked.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver/memory/block_trace.hpp"
#include "driver/memory/peer_lease.hpp"
#include "driver/quota/memory_charge.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/buddy_allocator.hpp"

namespace npu::driver {

struct MemoryBlock {
  std::uint64_t address = 0;     // device-local, or PageTableEntry::peer_target(), host_target()
  Bytes size = 0;                // whole pages; 0: the slot is free
  Bytes head = 0;                // of a block in two pieces: bytes at `address`; else 0
  std::uint64_t rest = 0;        // where those behind are
  std::uint32_t generation = 1;  // of the handles that mean this block
  std::uint32_t mappings = 0;
  std::uint32_t holders = 0;  // bit v: the space of VMID v holds the handle
  bool pinned = false;
  bool is_host = false;
  PeerLease lease;                         // of another card's memory
  std::shared_ptr<PeerLease::Count> lent;  // leases that other cards have; null: never any

  bool is_peer() const { return static_cast<bool>(lease); }
  bool is_local() const { return !is_peer() && !is_host; }
  bool is_lent() const { return lent && lent->load(std::memory_order_acquire) != 0; }
  // A slide has ended half way.
  bool is_split() const { return head != 0; }
  bool movable() const { return !pinned && !is_lent() && !is_split(); }
  bool live() const { return size != 0; }
  bool held_by(unsigned vmid) const { return (holders >> vmid & 1) != 0; }
};

// What the card may still do with a place in quarantine.
enum class Residue {
  kCopies,        // write to it: copies that did not end in time
  kTranslations,  // reach it through translations that it was told to drop
};

struct QuarantinedPlace {
  std::uint64_t address = 0;  // device-local
  Bytes size = 0;
  Residue residue = Residue::kCopies;
};

class PhysicalMemory {
 public:
  explicit PhysicalMemory(Bytes size, const BlockTrace& trace = {})
      : allocator_(size), trace_(trace) {}

  // `size` is rounded up to whole pages. Held by `vmid`. kInvalidArgument, kOutOfMemory.
  Result<MemoryHandle> create(Bytes size, bool pinned, unsigned vmid);
  // Whole pages at `address`, pinned. kInvalidArgument; kOutOfMemory: not all free.
  Result<MemoryHandle> create_at(std::uint64_t address, Bytes size, unsigned vmid);
  // nullptr: no such block (any more).
  MemoryBlock* find(MemoryHandle handle);
  const MemoryBlock* find(MemoryHandle handle) const {
    return const_cast<PhysicalMemory*>(this)->find(handle);
  }
  // Another card may reach the block, which is not a peer's itself, until the lease ends.
  PeerLease lend(MemoryHandle handle);
  // A block of another card, at `target`, held by `vmid`.
  MemoryHandle add_peer(std::uint64_t target, Bytes size, PeerLease lease, unsigned vmid);
  // Memory of the host, at a host_target(), held by `vmid`.
  MemoryHandle add_host(std::uint64_t target, Bytes size, unsigned vmid);
  // The block at `target`; no handle if there is none.
  MemoryHandle find_peer(std::uint64_t target) const;
  // Frees what nobody uses here and no lease keeps any more.
  void collect();
  // The block must be live and held, or mapped, as the name says.
  void hold(MemoryHandle handle, unsigned vmid);
  void release(MemoryHandle handle, unsigned vmid);
  void add_mapping(MemoryHandle handle);
  void remove_mapping(MemoryHandle handle);
  // The block, which the space of `vmid` has just made, counts for its client until it is free.
  void charge(MemoryHandle handle, unsigned vmid, MemoryCharge charge) {
    charges_[handle.index] = {vmid, std::move(charge)};
  }
  // That space has ended: what is left of its blocks counts for whom `heir(handle, vmid)` says,
  // which also says that space, or leaves it as it is for nobody's.
  template <class F>
  void pass_charges(unsigned vmid, F heir) {
    for (auto charge = charges_.begin(); charge != charges_.end();) {
      auto& [maker, amount] = charge->second;
      const bool stays = maker != vmid || heir(handle_of(charge->first), maker, amount);
      charge = stays ? std::next(charge) : charges_.erase(charge);
    }
  }
  // Gives up everything that `vmid` holds.
  void release_all(unsigned vmid);

  // All slots, free ones too, in the order of their handles' index.
  const std::vector<MemoryBlock>& blocks() const { return blocks_; }
  MemoryHandle handle_of(std::uint32_t index) const { return {index, blocks_[index].generation}; }
  // The block lies at `address` from now on; its old place is not freed.
  void relocate(std::uint32_t index, std::uint64_t address);
  // Its first `head` bytes lie at `address` and the others at `rest` from now on, each an
  // allocation.
  void split(std::uint32_t index, std::uint64_t address, Bytes head, std::uint64_t rest);
  // `address` is an allocation that belongs to no block.
  void quarantine(std::uint64_t address, Bytes size, Residue residue);
  // The card is done with what it left: these places are free again.
  void end_quarantine(Residue residue);
  const std::vector<QuarantinedPlace>& quarantined() const { return quarantined_; }
  MemoryStatistics statistics() const;
  BuddyAllocator& allocator() { return allocator_; }
  const BuddyAllocator& allocator() const { return allocator_; }

 private:
  std::uint32_t take_slot();
  MemoryHandle add_remote(std::uint64_t target, Bytes size, unsigned vmid);
  void free_if_unused(std::uint32_t index);

  BuddyAllocator allocator_;
  BlockTrace trace_;
  std::vector<MemoryBlock> blocks_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<QuarantinedPlace> quarantined_;
  std::size_t split_ = 0;                 // blocks in two pieces
  std::vector<std::uint32_t> lent_only_;  // blocks that only leases keep
  struct Charged {
    unsigned maker = 0;  // VMID
    MemoryCharge charge;
  };
  std::map<std::uint32_t, Charged> charges_;  // by index; of clients with a quota
};

}  // namespace npu::driver
