// SPDX-License-Identifier: Apache-2.0
// The managed pages of a process as one card has them: how a page gets into that card's memory and
// out of it again. Not locked: PagesLock is held.
#pragma once

#include <vector>

#include "driver/managed/card_paging.hpp"
#include "driver/managed/exposed_pages.hpp"
#include "driver/managed/kernel_costs.hpp"
#include "driver/managed/managed_pages.hpp"
#include "driver/managed/peer_ways.hpp"
#include "driver/managed/service_trace.hpp"
#include "driver/quota/page_room.hpp"

namespace npu::driver {

class CardPages {
 public:
  // What makes a page usable that has been brought to the card.
  struct Brought {
    bool was_there = false;  // nothing is to be done
    std::uint64_t entry = 0;
    abi::PageTableEntry value;
  };

  // `card`: its place among those of `all`; all outlive it, but not `where`.
  CardPages(ManagedPages& all, unsigned card, const ManagedCardSpace& where, CardPaging& paging)
      : all_(all),
        card_(card),
        link_(*where.link),
        memory_(*where.memory),
        space_(*where.space),
        space_quota_((*where.features)[&DeviceFeatures::managed_quota] ? space_.quota() : nullptr),
        paging_(paging),
        exposed_(all, card, space_.vmid(), paging),
        mover_(paging.mover()),
        ways_(link_),
        trace_(link_.platform(), link_.device_index()),
        costs_(link_.platform().tasks()) {}

  // Pages that a card had which was shut down count no more.
  ~CardPages() {
    while (counted_ > 0) uncount();
  }
  CardPages(const CardPages&) = delete;
  CardPages& operator=(const CardPages&) = delete;

  // kDeviceLost: nobody serves the card any more, and what it had is gone.
  Status usable() const {
    if (!paging_.ended()) return {};
    return fail(ErrorCode::kDeviceLost,
                fmt::format("card {} has been shut down", link_.device_index()));
  }
  ManagedPages& all() { return all_; }
  unsigned card() const { return card_; }
  Space& space() { return space_; }
  std::uint32_t device_index() const { return link_.device_index(); }
  MemoryLocation location() const { return MemoryLocation::card(device_index()); }
  ManagedPage* find(std::uint64_t address) { return all_.find(address); }
  // What it has of the page.
  CardPage& own(ManagedPage& page) const { return page.cards[card_]; }
  const CardPage& own(const ManagedPage& page) const { return page.cards[card_]; }

  // --- To the card.
  // The bytes of the page are in the slot, which is its from now on. kNotFound: it is no managed
  // page.
  Result<Brought> migrate_in(std::uint64_t address, bool write, std::uint32_t slot);
  // The same of a managed page's parts, and with those that `density` adds (page_parts.hpp); the
  // page is mapped. `slot` is looked at if it is not on the card.
  Status migrate_parts_in(std::uint64_t at, const PageParts& touched, bool write,
                          std::uint32_t slot, unsigned density);
  // All parts of a page that is on the card.
  Status complete(std::uint64_t at) {
    auto& page = page_of(at);
    const auto& parts = own(page).parts;
    if (!parts || parts->all()) return {};
    ++statistics().prefetched;
    return fetch_parts(page, ~*parts);
  }
  // Whole pages that are on the host and not here; all at once, or as many as there is memory for
  // at a time. How many those are; kOutOfMemory: none.
  Result<std::uint64_t> migrate_run_in(std::uint64_t first, std::uint64_t count);
  // A page that nobody has touched is made on the card.
  Status create(std::uint64_t at);

  // --- To the host.
  // Nobody on the card uses the page of the slot any more: it is the host's, and the slot empty.
  Status migrate_out(std::uint32_t slot, bool dirty);
  // It could not: the card may use it again.
  Status remap(std::uint32_t slot) {
    const std::uint64_t at = paging_.slots()[slot].at;
    return publish(at, page_of(at));
  }
  // It had to leave for want of memory.
  void note_eviction(std::uint64_t at) {
    page_of(at).evicted = true;
    ++statistics().evictions;
  }
  // migrate_out() of one that is still in use, for want of memory.
  Status evict(std::uint32_t slot) {
    const std::uint64_t at = paging_.slots()[slot].at;
    if (auto ok = fetch_run(at, 1); !ok) return ok;
    note_eviction(at);
    return {};
  }
  // Whole pages that are on the card; all at once.
  Status fetch_run(std::uint64_t first, std::uint64_t count);
  // --- To another card.
  // Nobody here uses the page any more, all of which is here; whether it was written.
  Result<bool> stop_using(std::uint64_t at, ManagedPage& page) { return unmap(at, page); }
  // Then where it is, device-local; and it is not here any more.
  LocalAddress memory_of(const ManagedPage& page) const {
    return paging_.slots()[own(page).slot].address;
  }
  void forget(ManagedPage& page) { leave_slot(page); }
  const CardLink& link() const { return link_; }
  const std::shared_ptr<PeerGate>& gate() const { return memory_.peers(); }
  // What the card has of the page is gone.
  Status discard(std::uint64_t at, ManagedPage& page) {
    if (const auto dirty = unmap(at, page); !dirty) return forward_error(dirty);
    statistics().dropped_bytes += own(page).bytes();
    leave_slot(page);
    return {};
  }

  // Where pages stay on the host.
  ExposedPages& exposed() { return exposed_; }
  const ExposedPages& exposed() const { return exposed_; }

  ServiceTrace& trace() { return trace_; }
  ManagedStatistics& statistics() { return all_.statistics(); }

 private:
  ManagedPage& page_of(std::uint64_t at) { return *find(at); }
  abi::PageTableEntry value_of(const ManagedPage& page) const {
    const auto& mine = own(page);
    auto value =
        abi::PageTableEntry::page(paging_.slots()[mine.slot].address.value, true, mine.writable);
    if (mine.parts) value.raw |= abi::PageTableEntry::Partial::kMask;
    return value;
  }
  // Whether the page is in the slot now; else the host has it, or nobody.
  Result<bool> take_from_others(std::uint64_t at, ManagedPage& page, bool write,
                                std::uint32_t slot);
  Status copy_from(const CardPages& other, LocalAddress from, LocalAddress to);
  Result<bool> take_directly(std::uint64_t at, ManagedPage& page, std::uint32_t slot);
  Status take_exclusive(std::uint64_t at, ManagedPage& page);
  // Before the host's copy comes; the host keeps its own.
  void prepare_copy(ManagedPage& page, bool keeps) {
    trace_.begin(ServiceTrace::kUnmap);
    if (!keeps) costs_.take_from_program(page);
    costs_.map_for(own(page));
  }
  // In the client's quota, for a page that is not here. kOutOfMemory.
  Result<PageRoom> make_room();
  void commit_charge(PageRoom& room) {
    if (room.commit()) ++counted_;
  }
  void limit_host(std::uint64_t at, ManagedPage& page, bool write);
  void uncount() {
    if (counted_ == 0) return;
    --counted_;
    space_quota_->uncharge(kPageSize, MemoryQuota::Kind::kManaged);
  }
  // `moved`: from another card.
  void install(std::uint64_t at, ManagedPage& page, std::uint32_t slot, bool write,
               bool moved = false);
  Status publish(std::uint64_t at, ManagedPage& page);
  Status put_right(std::uint64_t at, ManagedPage& page);
  Status fetch_parts(ManagedPage& page, const PageParts& missing);
  Status copy_home(const ManagedPage& page);
  Result<bool> unmap(std::uint64_t at, ManagedPage& page);
  Status leave_in_run(std::uint64_t first, std::uint64_t count, const std::vector<bool>& dirty);
  void leave_slot(ManagedPage& page);

  ManagedPages& all_;
  const unsigned card_;
  CardLink& link_;
  MemoryManager& memory_;
  Space& space_;
  const std::shared_ptr<MemoryQuota> space_quota_;  // null: none
  CardPaging& paging_;
  ExposedPages exposed_;
  PageMover& mover_;
  PeerWays ways_;
  ServiceTrace trace_;
  KernelCosts costs_;
  std::uint64_t counted_ = 0;  // pages in the quota
};

}  // namespace npu::driver
