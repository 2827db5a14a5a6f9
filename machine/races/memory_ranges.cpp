// SPDX-License-Identifier: Apache-2.0
#include "machine/races/memory_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace npu::races {
namespace {

// Calls `take(begin of the range, value, first, end)` for each range that [first, last) meets.
template <class Map, class End, class Take>
void for_each_met(const Map& ranges, std::uint64_t first, std::uint64_t last, End end_of,
                  Take take) {
  auto each = ranges.upper_bound(first);
  if (each != ranges.begin()) --each;
  for (; each != ranges.end() && each->first < last; ++each) {
    const auto begin = std::max(first, each->first);
    const auto end = std::min(last, end_of(*each));
    if (begin < end) take(*each, begin, end);
  }
}

}  // namespace

std::vector<Piece> MemoryRanges::of_programs(std::uint32_t device, std::uint32_t space,
                                             const std::vector<Piece>& pieces) const {
  std::vector<Piece> all;
  const auto ranges = spaces_.find({device, space});
  const auto bus = buses_.find(device);
  for (const auto& piece : pieces) {
    const auto last = piece.address + piece.size;
    if (piece.host && bus != buses_.end()) {
      for_each_met(
          bus->second, piece.address, last,
          [](const auto& each) { return each.first + each.second.size; },
          [&](const auto& each, std::uint64_t begin, std::uint64_t end) {
            const auto offset = begin - each.first;
            all.push_back({true, piece.write, offset, each.second.place + offset, end - begin});
          });
    } else if (!piece.host && all_of_cards_) {
      all.push_back(piece);
    } else if (!piece.host && ranges != spaces_.end()) {
      for_each_met(
          ranges->second, piece.address, last, [](const auto& each) { return each.second; },
          [&](const auto&, std::uint64_t begin, std::uint64_t end) {
            all.push_back(
                {false, piece.write, begin, piece.local + (begin - piece.address), end - begin});
          });
    }
  }
  return all;
}

}  // namespace npu::races
