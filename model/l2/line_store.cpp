// SPDX-License-Identifier: Apache-2.0
#include "model/l2/line_store.hpp"

#include <algorithm>
#include <cstring>
#include <systemc>

namespace npu::model {
namespace {

constexpr unsigned kFlagBits = 4;

unsigned log2_of(std::uint64_t power) {
  return static_cast<unsigned>(__builtin_ctzll(power));
}

// XOR of the groups of `bits` bits of a value below 2^48: the upper half of them onto the lower
// one, then quarters, and so on.
std::uint64_t fold(std::uint64_t value, unsigned bits) {
  if (bits == 0) return 0;
  unsigned shift = bits;
  while (shift < 24) shift *= 2;
  for (; shift >= bits; shift /= 2) value ^= value >> shift;
  return value & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

LineStore::LineStore(const L2Config& config)
    : ways_(config.ways),
      slice_bits_(log2_of(config.slices)),
      slice_mask_(config.slices - 1),
      memory_(config.size / config.line) {
  const std::uint64_t lines = config.size / config.line;
  const std::uint64_t sets = lines / ways_ / config.slices;
  const bool sets_are_a_power_of_two = sets != 0 && (sets & (sets - 1)) == 0;
  sc_assert(sets_are_a_power_of_two && sets * ways_ * config.slices * config.line == config.size);
  set_bits_ = log2_of(sets);
  set_mask_ = sets - 1;
}

LineStore::Block LineStore::block_of(Line line) const {
  Block block;
  block.number = line >> slice_bits_;
  block.slices = fold(block.number, slice_bits_);
  const std::uint64_t tag = block.number >> set_bits_;
  block.sets = ((block.number ^ fold(tag, set_bits_)) & set_mask_) << slice_bits_;
  block.key = static_cast<Entry>(tag) << kFlagBits | kValid;
  return block;
}

// block_of() backwards: the tag undoes the hash of the set, then both that of the slice.
Line LineStore::line_of(const Block& block, unsigned slice, Entry entry) const {
  const std::uint64_t tag = entry >> kFlagBits;
  const std::uint64_t set = (block.sets >> slice_bits_ ^ fold(tag, set_bits_)) & set_mask_;
  const std::uint64_t number = tag << set_bits_ | set;
  return number << slice_bits_ | ((slice ^ fold(number, slice_bits_)) & slice_mask_);
}

unsigned LineStore::victim(const Entry* set) const {
  unsigned way = ways_;
  while (way > 0 && (set[way - 1] & kFilling) != 0) --way;
  return way == 0 ? ways_ : way - 1;
}

void LineStore::use(Entry* set, unsigned way, Entry value) {
  // Four at a time: compilers make one instruction of it.
  for (Entry four[4]; way >= 4; way -= 4) {
    std::memcpy(four, set + way - 4, sizeof four);
    std::memcpy(set + way - 3, four, sizeof four);
  }
  for (; way > 0; --way) set[way] = set[way - 1];
  set[0] = value;
}

void LineStore::drop(Entry* set, unsigned way) const {
  for (; way + 1 < ways_; ++way) set[way] = set[way + 1];
  set[ways_ - 1] = 0;
}

void LineStore::clear(Line first, Line last) {
  const bool all = first == 0 && last == ~Line{0};
  for (std::size_t set = 0; set < (set_mask_ + 1) << slice_bits_; ++set) {
    Entry* const begin = entries() + set * ways_;
    Block block{};
    block.sets = set & ~slice_mask_;
    const auto slice = static_cast<unsigned>(set & slice_mask_);
    auto* const end = std::remove_if(begin, begin + ways_, [&](Entry entry) {
      if (entry == 0 || (entry & kFilling) != 0) return entry == 0;
      const Line line = all ? first : line_of(block, slice, entry);
      return line >= first && line <= last;
    });
    std::fill(end, begin + ways_, Entry{0});
  }
}

}  // namespace npu::model
