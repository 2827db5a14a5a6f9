// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/address_map.hpp"

#include <algorithm>
#include <systemc>

#include "model/hbm/candidates.hpp"

namespace npu::model::hbm {
namespace {

unsigned log2_exact(std::uint64_t value) {
  sc_assert(value != 0 && (value & (value - 1)) == 0);
  unsigned bits = 0;
  while (value >> bits != 1) ++bits;
  return bits;
}

// Of the bank group those below the channel: the bursts of one interleave take turns among so many.
unsigned group_low_bits(const HbmConfig& config) {
  const Bytes bursts = std::max<Bytes>(1, config.interleave / config.timings.burst);
  return log2_exact(std::min<Bytes>(config.interleave_groups, bursts));
}

// Of the column those below the channel: one interleave lies in one row of each of its bank groups.
unsigned column_low_bits(const HbmConfig& config) {
  const Bytes bursts = std::max<Bytes>(1, config.interleave / config.timings.burst);
  return log2_exact(bursts) - group_low_bits(config);
}

unsigned field_bits(AddressField field, const HbmConfig& config) {
  const HbmTimings& timings = config.timings;
  switch (field) {
    case AddressField::kChannel:
      return 0;  // already taken out of an index
    case AddressField::kPseudoChannel:
      return log2_exact(timings.pseudo_channels);
    case AddressField::kGroupLow:
      return group_low_bits(config);
    case AddressField::kGroup:
      return log2_exact(timings.bank_groups) - group_low_bits(config);
    case AddressField::kColumnLow:
      return column_low_bits(config);
    case AddressField::kColumn:
      return log2_exact(timings.row / timings.burst) - column_low_bits(config);
    case AddressField::kBank:
      return log2_exact(timings.banks_per_group);
    case AddressField::kStack:
      return log2_exact(timings.stacks);
    case AddressField::kRow:
      return 32;
  }
  return 0;
}

}  // namespace

int lanes_per_rank(const HbmTimings& timings) {
  const auto banks = static_cast<int>(timings.bank_groups * timings.banks_per_group);
  return (banks + Candidates::kBlock - 1) / Candidates::kBlock * Candidates::kBlock;
}

std::uint16_t lane_number(const HbmTimings& timings, unsigned pseudo_channel, unsigned stack,
                          unsigned group, unsigned bank) {
  const unsigned rank = pseudo_channel * timings.stacks + stack;
  return static_cast<std::uint16_t>(rank * static_cast<unsigned>(lanes_per_rank(timings)) +
                                    group * timings.banks_per_group + bank);
}

AddressMap::AddressMap(const HbmConfig& config)
    : channels_(config.channels),
      channel_bits_(log2_exact(config.channels)),
      column_low_bits_(column_low_bits(config)),
      group_low_bits_(group_low_bits(config)),
      group_bits_(log2_exact(config.timings.bank_groups)),
      bank_bits_(log2_exact(config.timings.banks_per_group)),
      hash_(config.xor_hash) {
  unsigned shift = 0;
  for (const AddressField field : kAddressOrder) {
    if (field == AddressField::kChannel) channel_shift_ = shift;
    const unsigned bits = field_bits(field, config);
    slice(field) = {shift, static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1)};
    shift += bits;
  }
  const std::uint64_t bursts = config.installed / config.timings.burst;
  const std::uint64_t upper = bursts >> (channel_shift_ + channel_bits_);
  fold_shift_ = channel_bits_;
  while (channel_bits_ != 0 && fold_shift_ < 32 && upper >> 2 * fold_shift_ != 0) fold_shift_ *= 2;
  build_lanes(config.timings);
}

void AddressMap::build_lanes(const HbmTimings& timings) {
  if (timings.pseudo_channels > 1) other_pseudo_channel_ = lane_number(timings, 1, 0, 0, 0);
  lanes_.resize(std::size_t{1} << slice(AddressField::kRow).shift);
  for (std::size_t index = 0; index < lanes_.size(); ++index) {
    const Location where = locate(index);
    lanes_[index] = static_cast<std::uint8_t>(
        lane_number(timings, where.pseudo_channel, where.stack, where.group, where.bank));
  }
}

AddressMap::Below AddressMap::below(std::uint64_t burst) const {
  const std::uint64_t upper = burst >> (channel_shift_ + channel_bits_);
  const auto place = static_cast<unsigned>(burst >> channel_shift_) & (channels_ - 1);
  const auto folded = static_cast<unsigned>(fold(upper));
  return {index(burst), upper << channel_shift_, place, folded};
}

Location AddressMap::locate(std::uint64_t index) const {
  Location where;
  where.pseudo_channel = slice(AddressField::kPseudoChannel).of(index);
  where.stack = slice(AddressField::kStack).of(index);
  where.group = slice(AddressField::kGroup).of(index) << group_low_bits_ |
                slice(AddressField::kGroupLow).of(index);
  where.bank = slice(AddressField::kBank).of(index);
  where.column = slice(AddressField::kColumn).of(index) << column_low_bits_ |
                 slice(AddressField::kColumnLow).of(index);
  where.row = slice(AddressField::kRow).of(index);
  if (hash_) {
    const Slice& pseudo_channel = slice(AddressField::kPseudoChannel);
    const std::uint64_t above =
        index >> pseudo_channel.shift >> log2_exact(pseudo_channel.mask + 1);
    if (odd(above)) where.pseudo_channel ^= 1 & pseudo_channel.mask;
    where.group ^= hash(where.row) >> bank_bits_;
    where.bank ^= hash(where.row) & slice(AddressField::kBank).mask;
  }
  return where;
}

}  // namespace npu::model::hbm
