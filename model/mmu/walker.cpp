// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/walker.hpp"

#include <algorithm>
#include <cstring>

#include "npu/base/checked.hpp"

namespace npu::model {

std::optional<Translation> leaf_translation(abi::PageTableEntry entry, unsigned level,
                                            TaggedAddress address, const Partition& partition) {
  const std::uint64_t span = abi::entry_span(level);
  const bool makes_sense = level <= 1 && is_aligned(entry.address(), span) &&
                           (!entry.is_local() || partition.has_memory(entry.address(), span));
  if (!makes_sense) return std::nullopt;
  Translation page;
  page.shift = level == 0 ? abi::kPageShift : abi::kGiantShift;
  page.tag = address >> page.shift;
  page.base = entry.address() + (entry.is_local() ? partition.memory_base : 0);
  page.read = entry.may_read();
  page.write = entry.may_write();
  // What the other card has, it knows itself; a card of no index has no link.
  if (entry.is_peer()) page.peer = static_cast<std::uint16_t>(entry.card() + 1);
  if (entry.is_host()) page.host = HostPage::kBus;
  return page;
}

Walker::Walker(Simulation& sim, const ChipConfig& config, Tlb& tlb, MmuStatistics& statistics,
               Listener& listener, std::uint32_t track, Send send)
    : sim_(sim),
      walkers_(config.mmu.walkers),
      step_(ticks(config.mmu.walk_step)),
      tlb_(tlb),
      cache_(config.mmu.walk_cache_entries),
      statistics_(statistics),
      listener_(listener),
      track_(track),
      send_(std::move(send)) {}

void Walker::miss(TaggedAddress address, tlm::tlm_generic_payload& trans) {
  const TaggedAddress page = align_down(address, abi::entry_span(0));
  for (const auto walk : live_) {
    if (walks_[walk].page != page) continue;
    walks_[walk].waiting.push_back(&trans);
    walks_[walk].writes |= trans.is_write();
    return;
  }
  const auto walk = new_walk(page, Transaction::of(trans).cause);
  walks_[walk].waiting.push_back(&trans);
  walks_[walk].writes = trans.is_write();
  if (active_ < walkers_) start(walk);
}

std::uint32_t Walker::new_walk(TaggedAddress page, std::uint64_t cause) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(walks_.size()));
    walks_.emplace_back();
  }
  const auto number = free_.back();
  free_.pop_back();
  live_.push_back(number);
  auto& walk = walks_[number];
  walk.page = page;
  walk.cause = cause;
  walk.missed = sim_now();
  walk.active = walk.stale = false;
  walk.reads = 0;
  return number;
}

void Walker::start(std::uint32_t number) {
  auto& walk = walks_[number];
  walk.active = true;
  walk.started = sim_now();
  ++active_;
  ++statistics_.walks;
  if (begin(number)) ++statistics_.walk_cache_hits;
}

// A walk that had to wait may find its page in the TLB: a giant page came in for a neighbour.
void Walker::start_waiting() {
  while (active_ < walkers_) {
    const auto next = std::find_if(live_.begin(), live_.end(),
                                   [this](std::uint32_t walk) { return !walks_[walk].active; });
    if (next == live_.end()) return;
    const auto walk = *next;
    auto* const page = tlb_.lookup(walks_[walk].page);
    if (page == nullptr) {
      start(walk);
    } else {
      hand_over(walk, Completion::kSuccess, page);
    }
  }
}

// From the lowest table that is known; whether one below the context table is.
bool Walker::begin(std::uint32_t number) {
  auto& walk = walks_[number];
  walk.stale = false;
  walk.leaf = 0;
  walk.in_map = false;
  if (const auto known = cache_.lookup(walk.page)) {
    read_from(number, known->level, known->table, abi::table_index(walk.page, known->level));
    return true;
  }
  const std::uint64_t base = listener_.context_base(function(number));
  if (base == 0) {
    finish(number, Completion::kNotMapped, nullptr);
  } else {
    read_from(number, kContextLevel, base, vmid_of(space_of_tagged(walk.page)));
  }
  return false;
}

void Walker::read_from(std::uint32_t number, unsigned level, std::uint64_t table,
                       std::uint64_t index) {
  const auto& partition = listener_.partition(function(number));
  if (!partition.has_memory(table, abi::kTableSize)) {
    finish(number, Completion::kBadTable, nullptr);
    return;
  }
  auto& walk = walks_[number];
  walk.level = level;
  walk.entry = partition.memory_base + table + sizeof(abi::PageTableEntry) * index;
  sim_.agenda.at<&Walker::read>(sim_now() + step_, *this, argument(number));
}

void Walker::read(std::uint64_t argument) {
  if (!is_current(argument)) return;
  auto& walk = walks_[static_cast<std::uint32_t>(argument)];
  if (walk.stale) {
    begin(static_cast<std::uint32_t>(argument));
    return;
  }
  ++walk.reads;
  ++statistics_.entries_read;
  const unsigned size = walk.in_map ? abi::kResidencyLine : sizeof(abi::PageTableEntry);
  request(static_cast<std::uint32_t>(argument),
          sim_.pool.allocate(tlm::TLM_READ_COMMAND, walk.entry, nullptr, size));
}

void Walker::request(std::uint32_t walk, tlm::tlm_generic_payload& trans) {
  auto& info = Transaction::of(trans);
  info.context = argument(walk);
  info.cause = walks_[walk].cause;
  info.issued = sim_now();
  send_(trans);
}

void Walker::answered(tlm::tlm_generic_payload& trans) {
  const std::uint64_t argument = Transaction::of(trans).context;
  const bool ok = Transaction::of(trans).completion == Completion::kSuccess;
  Residency parts;
  if (trans.is_read()) std::memcpy(&parts, trans.get_data_ptr(), trans.get_data_length());
  trans.release();
  if (!is_current(argument)) return;
  const auto number = static_cast<std::uint32_t>(argument);
  const auto& walk = walks_[number];
  const abi::PageTableEntry leaf{walk.leaf};
  if (walk.stale) {
    begin(number);
  } else if (!ok) {
    finish(number, Completion::kBadTable, nullptr);
  } else if (walk.in_map) {
    map(number, leaf, &parts);
  } else if (leaf.valid()) {
    read_map(number, leaf);
  } else {
    interpret(number, parts.bits[0]);
  }
}

void Walker::interpret(std::uint32_t number, std::uint64_t raw) {
  const auto& walk = walks_[number];
  const unsigned level = walk.level;
  const abi::PageTableEntry entry{raw};  // a context entry has no Leaf, but is alike else
  if (!entry.valid()) {
    finish(number, Completion::kNotMapped, nullptr);
  } else if (level != kContextLevel && entry.leaf()) {
    if (!note_use(number, entry)) read_map(number, entry);
  } else if (level == 0) {
    finish(number, Completion::kBadTable, nullptr);
  } else {
    const TaggedAddress page = walk.page;
    // An entry that points beyond memory ends the walk and is not kept.
    if (listener_.partition(function(number)).has_memory(entry.address(), abi::kTableSize)) {
      cache_.insert(page, level, entry.address());
    }
    read_from(number, level - 1, entry.address(), abi::table_index(page, level - 1));
  }
}

// What follows a leaf that says what it should: the map of its parts, if it has one.
void Walker::read_map(std::uint32_t number, abi::PageTableEntry entry) {
  auto& walk = walks_[number];
  const auto& partition = listener_.partition(function(number));
  const auto base = listener_.residency_base(function(number));
  const bool sensible = leaf_translation(entry, walk.level, walk.page, partition).has_value();
  if (!entry.partial() || !base || walk.level != 0 || !entry.is_local() || !sensible) {
    return map(number, entry);
  }
  const std::uint64_t line = *base + (entry.address() >> abi::kPageShift) * abi::kResidencyLine;
  if (!partition.has_memory(line, abi::kResidencyLine)) {
    return finish(number, Completion::kBadTable, nullptr);
  }
  walk.leaf = entry.raw;
  walk.in_map = true;
  walk.entry = partition.memory_base + line;
  sim_.agenda.at<&Walker::read>(sim_now() + step_, *this, argument(number));
}

void Walker::map(std::uint32_t number, abi::PageTableEntry entry, const Residency* parts) {
  const auto& walk = walks_[number];
  const auto& partition = listener_.partition(function(number));
  auto page = leaf_translation(entry, walk.level, walk.page, partition);
  if (!page) return finish(number, Completion::kBadTable, nullptr);
  page->clean = page->write && !entry.dirty() && entry.is_local() &&
                listener_.tells_of_use(space_of_tagged(walk.page));
  page->partial = parts != nullptr;
  auto& kept = tlb_.insert(*page);
  if (parts != nullptr) tlb_.residency(kept) = *parts;
  finish(number, Completion::kSuccess, &kept);
}

// True: the leaf is being written, or the walk begins anew because somebody else has written it.
bool Walker::note_use(std::uint32_t number, abi::PageTableEntry entry) {
  auto& walk = walks_[number];
  if (!entry.is_local() || !listener_.tells_of_use(space_of_tagged(walk.page))) return false;
  std::uint64_t used = entry.raw;
  if (walk.writes ? entry.may_write() : entry.may_read()) {
    used |= abi::PageTableEntry::Young::kMask;
    if (walk.writes) used |= abi::PageTableEntry::Dirty::kMask;
  }
  if (used == entry.raw) return false;
  if (!listener_.exchange(walk.entry, entry.raw, used)) {
    begin(number);
    return true;
  }
  walk.leaf = used;
  request(number, sim_.pool.allocate_timing(tlm::TLM_WRITE_COMMAND, walk.entry, sizeof used));
  return true;
}

void Walker::finish(std::uint32_t number, Completion completion, Translation* page) {
  auto& walk = walks_[number];
  --active_;
  statistics_.walking += Picoseconds(static_cast<std::int64_t>(sim_now() - walk.started));
  sim_.emit(track_, platform::Activity::kPageWalk, walk.missed, sim_now(), walk.cause, 0,
            walk.reads);
  hand_over(number, completion, page);
  start_waiting();
}

// The walk is over before who waited for it may want the next one.
void Walker::hand_over(std::uint32_t number, Completion completion, Translation* page) {
  Waiting waiting = std::move(handed_over_);
  waiting.swap(walks_[number].waiting);
  release(number);
  listener_.walked(waiting, completion, page);
  waiting.clear();
  handed_over_ = std::move(waiting);
}

void Walker::release(std::uint32_t number) {
  walks_[number].waiting.clear();
  live_.erase(std::find(live_.begin(), live_.end(), number));
  free_.push_back(number);
}

void Walker::invalidate(const TaggedRange& range) {
  cache_.drop(range);
  for (const auto number : live_) {
    auto& walk = walks_[number];
    // By address space: tables on the way to one page also serve others.
    if (walk.active && range.overlaps(walk.page >> abi::kVirtualBits, abi::kVirtualBits)) {
      walk.stale = true;
    }
  }
}

Walker::Waiting Walker::reset(const TaggedRange& range) {
  Waiting all;
  cache_.drop(range);
  const auto walks = live_;
  for (const auto number : walks) {
    auto& walk = walks_[number];
    if (!range.overlaps(walk.page >> abi::kVirtualBits, abi::kVirtualBits)) continue;
    all.insert(all.end(), walk.waiting.begin(), walk.waiting.end());
    if (walk.active) --active_;
    ++walk.generation;
    release(number);
  }
  start_waiting();
  return all;
}

}  // namespace npu::model
