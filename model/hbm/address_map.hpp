// SPDX-License-Identifier: Apache-2.0
// Device-local byte address -> channel, pseudo channel, stack, bank group, bank, row, column.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/config/chip_config.hpp"

namespace npu::model::hbm {

// Fields of an address above the bytes of one burst, least significant first. What lies below the
// channel is one interleave (HbmConfig::interleave).
enum class AddressField : std::uint8_t {
  kGroupLow,   // as many bank groups as HbmConfig::interleave_groups says
  kColumnLow,  // the rest of an interleave
  kChannel,
  kPseudoChannel,
  kGroup,  // the rest
  kColumn,
  kBank,
  kStack,
  kRow,
};

inline constexpr std::array kAddressOrder{
    AddressField::kGroupLow,      AddressField::kColumnLow, AddressField::kChannel,
    AddressField::kPseudoChannel, AddressField::kGroup,     AddressField::kColumn,
    AddressField::kBank,          AddressField::kStack,     AddressField::kRow};

struct Location {
  unsigned pseudo_channel;
  unsigned stack;
  unsigned group;
  unsigned bank;  // within its group
  unsigned column;
  std::uint32_t row;
};

// Banks of a channel are numbered by lane: a rank, a (pseudo channel, stack) pair, after the other,
// each padded to whole blocks (model/hbm/candidates.hpp), bank groups contiguous.
int lanes_per_rank(const HbmTimings& timings);
std::uint16_t lane_number(const HbmTimings& timings, unsigned pseudo_channel, unsigned stack,
                          unsigned group, unsigned bank);

// Bursts are numbered by address (burst = address / burst size). Within its channel a burst has an
// index: its number with the channel bits taken out. Consecutive bursts of a transaction that fall
// on one channel have consecutive indices, hashed or not.
class AddressMap {
 public:
  // All sizes of the organisation are powers of two except the number of rows.
  explicit AddressMap(const HbmConfig& config);

  unsigned channels() const { return channels_; }
  // So many consecutive bursts, from a multiple of them on, lie on one channel, in one row of so
  // many banks, which take turns.
  unsigned interleave() const { return 1U << channel_shift_; }
  unsigned lanes_in_turn() const { return 1U << group_low_bits_; }
  unsigned channel(std::uint64_t burst) const {
    const std::uint64_t upper = burst >> (channel_shift_ + channel_bits_);
    return static_cast<unsigned>((burst >> channel_shift_) ^ fold(upper)) & (channels_ - 1);
  }
  std::uint64_t index(std::uint64_t burst) const {
    const std::uint64_t low = burst & ((std::uint64_t{1} << channel_shift_) - 1);
    return burst >> (channel_shift_ + channel_bits_) << channel_shift_ | low;
  }
  // What all channels have in common of the bursts below one.
  struct Below {
    std::uint64_t index;  // of the burst
    std::uint64_t first;  // index of the first burst on each channel of a round of all channels
    unsigned place;       // of the burst's interleave in this round
    unsigned fold;        // channel c has place c ^ fold in it
  };
  Below below(std::uint64_t burst) const;
  // The number of bursts of `channel` below the burst, which is also the index of its first one at
  // or above it.
  std::uint64_t index_below(const Below& burst, unsigned channel) const {
    const unsigned place = channel ^ burst.fold;
    if (place == burst.place) return burst.index;
    return burst.first + (std::uint64_t{place < burst.place} << channel_shift_);
  }
  Location locate(std::uint64_t index) const;
  std::uint32_t row(std::uint64_t index) const {
    return static_cast<std::uint32_t>(index >> slice(AddressField::kRow).shift);
  }
  // Which bits of a lane the row turns over.
  unsigned turned_over(std::uint32_t row) const {
    if (!hash_) return 0;
    return hash(row) ^ (odd(row) ? other_pseudo_channel_ : 0);
  }
  // The lane of an index, `turned`: turned_over() of its row.
  std::uint16_t lane(std::uint64_t index, unsigned turned) const {
    return static_cast<std::uint16_t>(lanes_[index & (lanes_.size() - 1)] ^ turned);
  }

 private:
  struct Slice {
    unsigned shift = 0;
    std::uint32_t mask = 0;
    unsigned of(std::uint64_t index) const { return static_cast<unsigned>(index >> shift) & mask; }
  };
  // XOR of all channel-wide groups of bits above the channel field; 0 without hash.
  std::uint64_t fold(std::uint64_t upper) const {
    if (!hash_ || channel_bits_ == 0) return 0;
    // The upper half onto the lower one, then quarters, and so on.
    for (unsigned shift = fold_shift_; shift >= channel_bits_; shift /= 2) upper ^= upper >> shift;
    return upper & (channels_ - 1);
  }
  // What a row adds to the bits of group and bank, and so to those of the lane: neighbouring rows
  // fall on different banks and groups.
  unsigned hash(std::uint32_t row) const {
    const unsigned group = row & ((1U << group_bits_) - 1);
    return group << bank_bits_ | ((row >> group_bits_) & slice(AddressField::kBank).mask);
  }
  // All bits above the pseudo channel decide which one it is: regions a power of two apart, as
  // cores have them that share a tensor, begin on both.
  static bool odd(std::uint64_t bits) { return __builtin_parityll(bits) != 0; }
  void build_lanes(const HbmTimings& timings);
  Slice& slice(AddressField field) { return slices_[static_cast<std::size_t>(field)]; }
  const Slice& slice(AddressField field) const { return slices_[static_cast<std::size_t>(field)]; }

  unsigned channels_;
  unsigned channel_bits_;
  unsigned channel_shift_ = 0;
  unsigned column_low_bits_;
  unsigned fold_shift_ = 0;  // groups of bits: a power of two of them reaches beyond all addresses
  unsigned group_low_bits_;
  unsigned group_bits_;
  unsigned bank_bits_;
  unsigned other_pseudo_channel_ = 0;  // lanes of one differ from those of the other in this bit
  bool hash_;
  std::array<Slice, kAddressOrder.size()> slices_{};
  std::vector<std::uint8_t> lanes_;  // by the bits of an index below the row
};

}  // namespace npu::model::hbm
