// SPDX-License-Identifier: Apache-2.0
// From when on the DRAM of a channel allows each command: what the commands so far forbid, per
// bank, bank group and pseudo channel (constraints.hpp: for how long). What RD and WR forbid to
// those of other banks is a matter of the column bus (column_bus.hpp).
#pragma once

#include <algorithm>
#include <array>

#include "model/hbm/candidates.hpp"
#include "model/hbm/channel_layout.hpp"
#include "model/hbm/command.hpp"
#include "model/hbm/constraints.hpp"

namespace npu::model::hbm {

// Clocks from which a bank allows each command. Kept where the bank's requests are, in one line of
// the cache, and handed in with each command.
struct BankClocks {
  Clock act = 0, pre = 0, read = 0, write = 0;
};

class ChannelTiming {
 public:
  ChannelTiming(const HbmTimings& timings, const ChannelLayout& layout);

  const Constraints& limits() const { return limits_; }
  // Clocks an ACT lasts beyond its first.
  int act_extra() const { return act_extra_; }

  // From when on an ACT is allowed: by the bank, its group and its pseudo channel.
  Clock activate_from(const BankClocks& bank, int lane) const {
    return std::max({bank.act, group(lane).act, pseudo_channel(lane).act});
  }
  // What the groups and pseudo channels say about it alone.
  Clock group_activate_from(int lane) const { return group(lane).act; }
  Clock any_activate_from(unsigned pseudo_channel) const {
    return pseudo_channels_[pseudo_channel].act;
  }
  // A RD or WR, by the bank and its group.
  Clock column_from(const BankClocks& bank, int lane, bool write) const {
    return std::max(bank_column_from(bank, write), group(lane).column[write ? 1 : 0]);
  }
  // By the bank alone, and by its group, a ChannelLayout::group_of().
  static Clock bank_column_from(const BankClocks& bank, bool write) {
    return write ? bank.write : bank.read;
  }
  Clock group_column_from(std::size_t group, bool write) const {
    return groups_[group].column[write ? 1 : 0];
  }
  // A REF, as far as this bank has a say: what an ACT of several clocks may begin earlier in full.
  Clock refresh_from(const BankClocks& bank, int lane) const {
    return std::max(bank.act, group(lane).act) + act_extra_;
  }
  // A REFpb keeps the distances of an ACT (tRRD, tFAW), so that it is legal no later than one and
  // comes first; what an ACT of several clocks may begin earlier (tRP, tRFC, tRREFD) in full.
  Clock refresh_bank_from(const BankClocks& bank, int lane) const {
    const PseudoChannel& here = pseudo_channel(lane);
    return std::max({bank.act + act_extra_, group(lane).act, here.act, here.refresh_bank});
  }

  void activate(BankClocks& bank, int lane, Clock at) {
    PseudoChannel& here = pseudo_channel(lane);
    // What held this ACT back is over: these need no comparison.
    group(lane).act = at + limits_.group_act_to_act;
    bank.act = at + limits_.act_to_act;
    bank.pre = at + limits_.act_to_pre;
    bank.read = at + limits_.act_to_column[0];
    bank.write = at + limits_.act_to_column[1];

    here.last_acts[here.act_cursor] = at;
    here.act_cursor = (here.act_cursor + 1) % 4;
    raise(here.act, std::max(at + limits_.any_act_to_act,
                             here.last_acts[here.act_cursor] + limits_.four_acts));
  }
  void precharge(BankClocks& bank, Clock at) { raise(bank.act, at + limits_.pre_to_act); }
  void read(BankClocks& bank, int lane, Clock at) {
    group(lane).column[0] = at + limits_.group_read_to_read;  // what held this RD back is over
    raise(bank.pre, at + limits_.read_to_pre);
  }
  void write(BankClocks& bank, int lane, Clock at) {
    group(lane).column[1] = at + limits_.group_write_to_write;
    raise(group(lane).column[0], at + limits_.group_write_to_read);
    raise(bank.pre, at + limits_.write_to_pre);
  }
  void column(BankClocks& bank, int lane, bool is_write, Clock at) {
    if (is_write) {
      write(bank, lane, at);
    } else {
      read(bank, lane, at);
    }
  }
  // A REF of all banks, to be called for each of them.
  void refresh(BankClocks& bank, Clock at) { raise(bank.act, at + limits_.refresh_to_act); }
  void refresh_bank(BankClocks& bank, int lane, Clock at);

 private:
  // Clocks from which a bank group allows a command.
  struct alignas(32) Group {
    Clock act = 0;                  // tRRD_L
    std::array<Clock, 2> column{};  // RD, WR: tCCD_L, tWTR_L
  };
  struct PseudoChannel {
    Clock act = 0;  // tRRD_S, tFAW, tRREFD
    std::array<Clock, 4> last_acts{-kNever, -kNever, -kNever, -kNever};
    unsigned act_cursor = 0;
    Clock refresh_bank = 0;  // REFpb: tRREFD after the last one
  };

  Group& group(int lane) { return groups_[group_of_[static_cast<std::size_t>(lane)]]; }
  const Group& group(int lane) const { return groups_[group_of_[static_cast<std::size_t>(lane)]]; }
  PseudoChannel& pseudo_channel(int lane) {
    return pseudo_channels_[layout_.pseudo_channel_of(lane)];
  }
  const PseudoChannel& pseudo_channel(int lane) const {
    return pseudo_channels_[layout_.pseudo_channel_of(lane)];
  }
  static void raise(Clock& limit, Clock to) { limit = std::max(limit, to); }

  ChannelLayout layout_;
  int act_extra_;
  Constraints limits_;
  std::array<PseudoChannel, 2> pseudo_channels_;
  std::array<std::uint8_t, Candidates::kMaxLanes> group_of_{};  // by lane
  std::array<Group, Candidates::kMaxLanes> groups_{};
};

}  // namespace npu::model::hbm
