// SPDX-License-Identifier: Apache-2.0
// What was sent to the DRAM of a channel, by kind and by scope: the clock of the last command of a
// kind at a bank, in a bank group, in a pseudo channel, in a stack, on a bus.
#pragma once

#include <array>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/command.hpp"

namespace npu::model::test {

// A bank of the channel.
struct PlainBank {
  unsigned pseudo_channel = 0;
  unsigned stack = 0;
  unsigned group = 0;
  unsigned bank = 0;
};

class PlainHistory {
 public:
  using Clock = hbm::Clock;
  using Kind = hbm::CommandKind;
  static constexpr Clock kLongAgo = -1'000'000'000;

  explicit PlainHistory(const HbmTimings& table) : t_(table) {
    for (auto& last : at_bank_) last.assign(banks(), kLongAgo);
    for (auto& last : in_group_) last.assign(banks() / t_.banks_per_group, kLongAgo);
    for (auto& last : in_pseudo_channel_) last.assign(t_.pseudo_channels, kLongAgo);
    for (auto& last : in_stack_) last.assign(t_.stacks, kLongAgo);
    acts_.resize(t_.pseudo_channels);
  }

  std::size_t banks() const {
    return std::size_t{t_.pseudo_channels} * t_.stacks * t_.bank_groups * t_.banks_per_group;
  }
  std::size_t number(const PlainBank& b) const { return group(b) * t_.banks_per_group + b.bank; }

  void record(Kind kind, const PlainBank& b, Clock at) {
    const auto k = static_cast<std::size_t>(kind);
    at_bank_[k][number(b)] = at;
    in_group_[k][group(b)] = at;
    in_pseudo_channel_[k][b.pseudo_channel] = at;
    in_stack_[k][b.stack] = at;
    in_channel_[k] = at;
    if (kind == Kind::kActivate) acts_[b.pseudo_channel].push_back(at);
  }

  Clock at_bank(Kind kind, const PlainBank& b) const { return of(at_bank_, kind)[number(b)]; }
  Clock in_group(Kind kind, const PlainBank& b) const { return of(in_group_, kind)[group(b)]; }
  Clock in_pseudo_channel(Kind kind, unsigned p) const { return of(in_pseudo_channel_, kind)[p]; }
  Clock in_stack(Kind kind, unsigned stack) const { return of(in_stack_, kind)[stack]; }
  Clock in_channel(Kind kind) const { return in_channel_[static_cast<std::size_t>(kind)]; }
  Clock fourth_last_act(unsigned p) const {
    return acts_[p].size() < 4 ? kLongAgo : acts_[p][acts_[p].size() - 4];
  }

 private:
  static constexpr std::size_t kKinds = 7;
  using ByScope = std::array<std::vector<Clock>, kKinds>;
  static const std::vector<Clock>& of(const ByScope& last, Kind kind) {
    return last[static_cast<std::size_t>(kind)];
  }
  std::size_t group(const PlainBank& b) const {
    return (std::size_t{b.pseudo_channel} * t_.stacks + b.stack) * t_.bank_groups + b.group;
  }

  HbmTimings t_;
  ByScope at_bank_, in_group_, in_pseudo_channel_, in_stack_;
  std::array<Clock, kKinds> in_channel_{kLongAgo, kLongAgo, kLongAgo, kLongAgo,
                                        kLongAgo, kLongAgo, kLongAgo};
  std::vector<std::vector<Clock>> acts_;  // of each pseudo channel
};

}  // namespace npu::model::test
