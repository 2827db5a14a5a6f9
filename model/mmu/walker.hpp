// SPDX-License-Identifier: Apache-2.0
// Walks the page tables (include/npu/abi/page_table.hpp) for requests that missed in the TLB.
//
// A page is walked for once: later requests for it wait for the walk in flight. `walkers` walks
// run at once, others wait in order of arrival. Each entry read costs `walk_step` and a real read
// of 8 bytes; what is read are the bytes of that time. Where tables tell of use, a leaf that does
// not say so yet is replaced at once, and the walk goes on when those 8 bytes are written.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/simulation.hpp"
#include "model/mmu/mmu_statistics.hpp"
#include "model/mmu/tlb.hpp"
#include "model/mmu/walk_cache.hpp"

namespace npu::model {

// What a leaf of `level` on the way to `address` says; nothing if it makes no sense. Tables hold
// addresses in the function's memory, a translation those of the card.
std::optional<Translation> leaf_translation(abi::PageTableEntry entry, unsigned level,
                                            TaggedAddress address, const Partition& partition);

class Walker {
 public:
  using Waiting = std::vector<tlm::tlm_generic_payload*>;

  class Listener {
   public:
    virtual ~Listener() = default;
    // A translation is known (`page`, in the TLB) or there is none (`page` null, and why); the
    // requests that waited for it, in order of arrival.
    virtual void walked(const Waiting& waiting, Completion completion, Translation* page) = 0;
    // Of the function's context table, in its memory; 0: none.
    virtual std::uint64_t context_base(unsigned function) const = 0;
    virtual const Partition& partition(unsigned function) const = 0;
    // Whether tables of the space tell of use (abi::PageTableEntry::Young, Dirty).
    virtual bool tells_of_use(SpaceId space) const = 0;
    // Of the function's residency maps, in its memory; nothing: there are none.
    virtual std::optional<std::uint64_t> residency_base(unsigned function) const = 0;
    // Replaces an entry at once, unless it is no longer `from`.
    virtual bool exchange(std::uint64_t entry, std::uint64_t from, std::uint64_t to) = 0;
  };
  // Sends a read; the response goes to answered().
  using Send = std::function<void(tlm::tlm_generic_payload&)>;

  Walker(Simulation& sim, const ChipConfig& config, Tlb& tlb, MmuStatistics& statistics,
         Listener& listener, std::uint32_t track, Send send);

  // `trans` waits until the page of `address` is walked for.
  void miss(TaggedAddress address, tlm::tlm_generic_payload& trans);
  void answered(tlm::tlm_generic_payload& trans);
  // Cached entries on the way to `range` are dropped, and walks in its address spaces start anew:
  // nothing they have read stays in use.
  void invalidate(const TaggedRange& range);
  // Forgets what it knows of `range` and the walks there; gives what waited for them.
  Waiting reset(const TaggedRange& range);

 private:
  struct Walk {
    TaggedAddress page = 0;        // 2 MiB aligned
    std::uint32_t generation = 0;  // resets in the midst of a walk of this number
    std::uint64_t cause = 0;
    SimTime missed = 0, started = 0;
    bool active = false;  // has a walker
    bool stale = false;   // what it has read was invalidated
    unsigned level = 0;   // of the entry to be read
    std::uint64_t entry = 0;
    std::uint64_t leaf = 0;  // that is being written, or whose residency map is read
    bool in_map = false;     // the latter
    bool writes = false;     // somebody wants to write the page
    unsigned reads = 0;
    Waiting waiting;
  };

  std::uint64_t argument(std::uint32_t walk) const {
    return std::uint64_t{walks_[walk].generation} << 32 | walk;
  }
  bool is_current(std::uint64_t argument) const {
    return argument == this->argument(static_cast<std::uint32_t>(argument));
  }
  unsigned function(std::uint32_t walk) const {
    return function_of(space_of_tagged(walks_[walk].page));
  }
  std::uint32_t new_walk(TaggedAddress page, std::uint64_t cause);
  void start(std::uint32_t walk);
  void start_waiting();
  bool begin(std::uint32_t walk);
  void read_from(std::uint32_t walk, unsigned level, std::uint64_t table, std::uint64_t index);
  void read(std::uint64_t argument);
  void interpret(std::uint32_t walk, std::uint64_t raw);
  void map(std::uint32_t walk, abi::PageTableEntry entry, const Residency* parts = nullptr);
  bool note_use(std::uint32_t walk, abi::PageTableEntry entry);
  void read_map(std::uint32_t walk, abi::PageTableEntry entry);
  void request(std::uint32_t walk, tlm::tlm_generic_payload& trans);
  void hand_over(std::uint32_t walk, Completion completion, Translation* page);
  void finish(std::uint32_t walk, Completion completion, Translation* page);
  void release(std::uint32_t walk);

  Simulation& sim_;
  const unsigned walkers_;
  const SimTime step_;
  Tlb& tlb_;
  WalkCache cache_;
  MmuStatistics& statistics_;
  Listener& listener_;
  const std::uint32_t track_;
  Send send_;
  std::vector<Walk> walks_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> live_;  // walks in order of arrival
  unsigned active_ = 0;
  Waiting handed_over_;
};

}  // namespace npu::model
