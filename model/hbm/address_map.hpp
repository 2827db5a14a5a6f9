// SPDX-License-Identifier: Apache-2.0
// Device-local byte address -> channel, pseudo channel, stack, bank group, bank, row, column.
#pragma once

#include <array>
#include <cstdint>

#include "model/config/chip_config.hpp"

namespace npu::model::hbm {

// Fields of an address above the bytes of one burst.
enum class AddressField : std::uint8_t {
  kChannel,
  kPseudoChannel,
  kBankGroup,
  kColumn,
  kBank,
  kStack,
  kRow,
};

// Least significant first.
using AddressOrder = std::array<AddressField, 7>;
constexpr AddressOrder kInterleavedOrder = {AddressField::kChannel,   AddressField::kPseudoChannel,
                                            AddressField::kBankGroup, AddressField::kColumn,
                                            AddressField::kBank,      AddressField::kStack,
                                            AddressField::kRow};

struct Location {
  unsigned pseudo_channel;
  unsigned stack;
  unsigned group;
  unsigned bank;  // within its group
  unsigned column;
  std::uint32_t row;
};

// Bursts are numbered by address (burst = address / burst size). Within its channel a burst has an
// index: its number with the channel bits taken out. Consecutive bursts of a transaction that fall
// on one channel have consecutive indices, hashed or not.
class AddressMap {
 public:
  // All sizes of the organisation are powers of two except the number of rows.
  explicit AddressMap(const HbmConfig& config, const AddressOrder& order = kInterleavedOrder);

  unsigned channels() const { return channels_; }
  unsigned channel(std::uint64_t burst) const {
    const std::uint64_t upper = burst >> (channel_shift_ + channel_bits_);
    return static_cast<unsigned>((burst >> channel_shift_) ^ fold(upper)) & (channels_ - 1);
  }
  std::uint64_t index(std::uint64_t burst) const {
    const std::uint64_t low = burst & ((std::uint64_t{1} << channel_shift_) - 1);
    return burst >> (channel_shift_ + channel_bits_) << channel_shift_ | low;
  }
  // The number of bursts of `channel` below `burst`, which is also the index of its first one at
  // or above it.
  std::uint64_t index_below(std::uint64_t burst, unsigned channel) const;
  Location locate(std::uint64_t index) const;

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
  Slice& slice(AddressField field) { return slices_[static_cast<std::size_t>(field)]; }
  const Slice& slice(AddressField field) const { return slices_[static_cast<std::size_t>(field)]; }

  unsigned channels_;
  unsigned channel_bits_;
  unsigned channel_shift_ = 0;
  unsigned fold_shift_ = 0;  // groups of bits: a power of two of them reaches beyond all addresses
  unsigned group_bits_;
  bool hash_;
  std::array<Slice, 7> slices_{};
};

}  // namespace npu::model::hbm
