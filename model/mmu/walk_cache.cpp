// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/walk_cache.hpp"

#include <algorithm>

namespace npu::model {

std::optional<WalkCache::Hit> WalkCache::lookup(TaggedAddress address) {
  Entry* best = nullptr;
  for (auto& entry : entries_) {
    if (entry.level == 0 || address >> shift(entry.level) != entry.tag) continue;
    if (best == nullptr || entry.level < best->level) best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  best->used = ++clock_;
  return Hit{best->level - 1, best->table};
}

void WalkCache::insert(TaggedAddress address, unsigned level, std::uint64_t table) {
  if (entries_.empty()) return;
  const std::uint64_t tag = address >> shift(level);
  const auto same = [&](const Entry& e) { return e.level == level && e.tag == tag; };
  auto place = std::find_if(entries_.begin(), entries_.end(), same);
  if (place == entries_.end()) {
    place = std::min_element(entries_.begin(), entries_.end(),
                             [](const Entry& a, const Entry& b) { return a.used < b.used; });
  }
  *place = {tag, table, ++clock_, level};
}

void WalkCache::drop(const TaggedRange& range) {
  for (auto& entry : entries_) {
    if (entry.level != 0 && range.overlaps(entry.tag, shift(entry.level))) entry = {};
  }
}

}  // namespace npu::model
