// SPDX-License-Identifier: Apache-2.0
// All memory management of one card: physical memory, page tables and address spaces, under one
// mutex. It may be held while the card is waited for, so no submission and no wait takes it.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>

#include "driver/memory/peer_gate.hpp"
#include "driver/memory/space.hpp"

namespace npu::driver {

class Compactor;

class MemoryManager {
 public:
  static Result<std::unique_ptr<MemoryManager>> create(CardLink& link);

  platform::Mutex& mutex() { return *mutex_; }

  // For PagingAccess and MemoryLoan.
  struct Loan {
    std::unique_ptr<platform::Mutex> mutex;  // of what follows
    bool lent = false;
    bool used = false;                // since it was lent
    Picoseconds longest;              // that who moves blocks may keep the memory
    std::atomic<unsigned> pagers{0};  // who may want it
  };
  Loan& loan() { return loan_; }
  // Makes memory free, or room in the quota of the space, that something may do without: at most so
  // many bytes of that space, or of any (VMID 0). False: there is none of it. Called without the
  // mutex.
  using Reclaim = std::function<bool(unsigned vmid, Bytes wanted)>;
  const Reclaim& reclaim() const { return reclaim_; }
  void set_reclaim(Reclaim reclaim) { reclaim_ = std::move(reclaim); }
  // Other cards that may reach the memory.
  const std::shared_ptr<PeerGate>& peers() const { return peers_; }

  // --- Under the mutex.
  // Makes room for who finds none in one piece; null: nobody does.
  Compactor* compactor() const { return compactor_; }
  void set_compactor(Compactor* compactor) { compactor_ = compactor; }
  PhysicalMemory& physical() { return physical_; }
  const PhysicalMemory& physical() const { return physical_; }
  TableMemory& tables() { return *tables_; }
  // nullptr: no such space.
  Space* space(unsigned vmid) const { return slots_[vmid].space.get(); }
  // Its memory counts for `quota`, its addresses are among `addresses`, if there are such.
  // kOutOfResources: no VMID, window of addresses or page table left.
  Result<Space*> create_space(std::shared_ptr<MemoryQuota> quota,
                              std::shared_ptr<UnifiedAddresses> addresses);
  // Its user has given it up. It ends now, or with its last stream.
  Status close_space(unsigned vmid, bool card_usable);
  // Ends the space if its user has given it up and its last stream is gone.
  Status collect(unsigned vmid, bool card_usable);
  // No later space gets the VMID: the card may still use it.
  void withhold(unsigned vmid) { slots_[vmid].withheld = true; }
  // No space can be found by the card any more.
  void withdraw_contexts();

  // --- At any time. How many streams use the space.
  void add_stream(unsigned vmid) { slots_[vmid].streams.fetch_add(1, std::memory_order_relaxed); }
  void remove_stream(unsigned vmid) {
    slots_[vmid].streams.fetch_sub(1, std::memory_order_relaxed);
  }
  unsigned streams(unsigned vmid) const {
    return slots_[vmid].streams.load(std::memory_order_relaxed);
  }

 private:
  struct Slot {
    std::unique_ptr<Space> space;
    std::atomic<unsigned> streams{0};
    bool given_up = false, withheld = false;
  };

  MemoryManager(CardLink& link, std::unique_ptr<TableMemory> tables)
      : mutex_(link.platform().tasks().make_mutex()),
        physical_(link.card().hbm_size, BlockTrace(link.platform(), link.device_index())),
        tables_(std::move(tables)),
        invalidator_(link, link.ready_timeout()),
        peers_(std::make_shared<PeerGate>(link)) {
    loan_.mutex = link.platform().tasks().make_mutex();
  }

  void pass_charges(unsigned vmid);
  WindowSet windows() const;

  std::unique_ptr<platform::Mutex> mutex_;
  PhysicalMemory physical_;
  std::unique_ptr<TableMemory> tables_;
  Invalidator invalidator_;
  const std::shared_ptr<PeerGate> peers_;  // leases have it, too
  Compactor* compactor_ = nullptr;
  Loan loan_;
  Reclaim reclaim_;
  std::array<Slot, abi::kVmids> slots_;
};

}  // namespace npu::driver
