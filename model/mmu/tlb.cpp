// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/tlb.hpp"

#include <algorithm>

namespace npu::model {

Tlb::Tlb(unsigned entries, unsigned ways)
    : entries_(entries), ways_(std::min(ways, entries)), set_mask_(entries / ways_ - 1) {}

// The VMID takes part, so that processes that use the same few addresses do not share few sets.
std::size_t Tlb::set_of(std::uint64_t tag, unsigned shift) const {
  const std::uint64_t vmid = tag >> (abi::kVirtualBits - shift);
  return ((tag ^ vmid) & set_mask_) * ways_;
}

const Translation* Tlb::find(TaggedAddress address) const {
  for (const unsigned shift : {abi::kPageShift, abi::kGiantShift}) {
    const auto* const set = entries_.data() + set_of(address >> shift, shift);
    for (const auto* entry = set; entry != set + ways_; ++entry) {
      if (entry->shift == shift && entry->covers(address)) return entry;
    }
  }
  return nullptr;
}

Translation* Tlb::lookup(TaggedAddress address) {
  const Translation* const found = find(address);
  if (found == nullptr) return nullptr;
  auto& entry = entries_[static_cast<std::size_t>(found - entries_.data())];
  touch(entry);
  return &entry;
}

Translation& Tlb::insert(const Translation& page) {
  auto* const set = entries_.data() + set_of(page.tag, page.shift);
  // Two walks for different parts of one giant page find the same entry.
  auto* place = std::find_if(set, set + ways_, [&page](const auto& entry) {
    return entry.tag == page.tag && entry.shift == page.shift;
  });
  if (place == set + ways_) {
    place = std::min_element(set, set + ways_,
                             [](const auto& a, const auto& b) { return a.used < b.used; });
  }
  *place = page;
  touch(*place);
  return *place;
}

unsigned Residency::first_missing(std::uint64_t offset, Bytes size) const {
  const auto last = static_cast<unsigned>((offset + size - 1) >> abi::kPartShift);
  for (auto part = static_cast<unsigned>(offset >> abi::kPartShift); part <= last; ++part) {
    if (!has(part)) return part;
  }
  return abi::kPageParts;
}

Residency& Tlb::residency(const Translation& entry) {
  if (residency_.empty()) residency_.resize(entries_.size());
  return residency_[static_cast<std::size_t>(&entry - entries_.data())];
}

bool Tlb::has_parts(const Translation& entry, std::uint64_t address, Bytes size,
                    std::uint64_t& missing) {
  const std::uint64_t offset = address % abi::entry_span(0);
  const auto part = residency(entry).first_missing(offset, size);
  if (part == abi::kPageParts) return true;
  const std::uint64_t first = address - offset + (std::uint64_t{part} << abi::kPartShift);
  missing = std::max(address, first);
  return false;
}

void Tlb::drop(const TaggedRange& range) {
  for (const unsigned shift : {abi::kPageShift, abi::kGiantShift}) {
    const std::uint64_t first = range.first >> shift, last = range.last >> shift;
    if (last - first >= set_mask_) return drop_of(range, 0, entries_.size());
    for (std::uint64_t tag = first; tag <= last; ++tag) drop_of(range, set_of(tag, shift), ways_);
  }
}

// A dropped entry is the first to be used again.
void Tlb::drop_of(const TaggedRange& range, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    auto& entry = entries_[i];
    if (entry.tag != Translation::kInvalid && range.overlaps(entry.tag, entry.shift)) entry = {};
  }
}

}  // namespace npu::model
