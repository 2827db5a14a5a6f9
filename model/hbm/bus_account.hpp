// SPDX-License-Identifier: Apache-2.0
// Where the clocks of one pseudo channel's data bus went.
//
// A RD or WR at clock t takes the slot [t, t + burst_clocks): its data moves a fixed latency later,
// so slots stand for the data bus. The clocks between the end of one slot and the begin of the
// next belong, each to the first of these that holds for it, to
//   idle        nothing was queued for the pseudo channel
//   refresh     a refresh was due or in flight (of the pseudo channel, or of the bank served next)
//   turnaround  the bus was turning from reads to writes or back (tRTW, tWTR_S)
//   row         the row served next was not yet open long enough (PRE, ACT, tRCD), or the burst
//               served next had not arrived yet while others waited for rows
//   column      the row was open and the bus free, but tCCD_L, tWTR_L, tCCD_R, or the column
//               command bus held the command back
// so that the five and the data clocks add up to the time accounted for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

struct BusClocks {
  Clock data = 0;
  Clock idle = 0;
  Clock refresh = 0;
  Clock turnaround = 0;
  Clock row = 0;
  Clock column = 0;

  BusClocks& operator+=(const BusClocks& other) {
    data += other.data;
    idle += other.idle;
    refresh += other.refresh;
    turnaround += other.turnaround;
    row += other.row;
    column += other.column;
    return *this;
  }
};

// When a bank (all-bank refresh: the pseudo channel) was refreshed: the last four times, as a gap
// between bursts may see more than one. (More only if refresh leaves a bank hardly any time to
// serve; what is forgotten then counts as row.)
class RefreshWindows {
 public:
  // A refresh fell due; no earlier than those before it. One that falls due before the last one has
  // ended, or as it ends, goes on with it.
  void fall_due(Clock at) {
    if (at > windows_[last_].end) {
      last_ = (last_ + 1) % kKept;
      windows_[last_].begin = at;
    }
    windows_[last_].end = kNever;
  }
  // It ends; its bank may be opened then.
  void finish(Clock at) { windows_[last_].end = at; }
  // The clocks of refreshes between two times.
  Clock within(Clock from, Clock until) const {
    Clock clocks = 0;
    for (const auto& window : windows_) {
      clocks += std::max<Clock>(std::min(until, window.end) - std::max(from, window.begin), 0);
    }
    return clocks;
  }

 private:
  static constexpr unsigned kKept = 4;
  struct Window {
    Clock begin = -kNever;
    Clock end = -kNever;  // kNever: not yet known
  };
  std::array<Window, kKept> windows_;
  unsigned last_ = 0;
};

class BusAccount {
 public:
  // A burst may be served from `at` on, which may lie ahead; in order of time.
  void queued(Clock at) {
    arrivals_[(served_ + waiting_) % kMaxWaiting] = static_cast<std::uint32_t>(at);
    ++waiting_;
  }
  // Up to here all clocks are accounted for.
  Clock accounted() const { return accounted_; }
  // And from here on something waits, if anything does: if as many had been served as had arrived
  // nothing waited until the next one came.
  Clock waits_from() const {
    const std::uint32_t low = arrivals_[served_ % kMaxWaiting];
    const auto since = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(accounted_));
    return accounted_ + std::max(since, 0);
  }
  // The clocks between accounted() and a burst at `at`, which is later. Its row was ready at
  // `row_ready`.
  void before_burst(Clock at, Clock row_ready) {
    const Clock from = waits_from();
    const Clock row_end = std::min(std::max(row_ready, from), at);
    clocks_.row += row_end - from;
    clocks_.column += at - row_end;
    clocks_.idle += from - accounted_;
    accounted_ = at;
  }
  // Likewise, but the bus was turning until `turned`, and there may have been refreshes that
  // concern its bank.
  void before_burst(Clock at, Clock turned, Clock row_ready, const RefreshWindows& refreshes);
  // A waiting burst takes the slot [at, at + clocks), not later than accounted(); or so many do,
  // each no later than the slot before it ends, and the last one that slot.
  void burst(Clock at, Clock clocks, unsigned bursts = 1) {
    const Clock end = std::max(accounted_, at + clocks);
    clocks_.data += end - accounted_;
    accounted_ = end;
    waiting_ -= bursts;
    served_ += bursts;
  }
  // Accounts for the time before `now`: a wait that goes on counts as refresh, if it is one of the
  // pseudo channel, or as row.
  void settle(Clock now, const RefreshWindows& refreshes);
  unsigned waiting() const { return waiting_; }
  const BusClocks& clocks() const { return clocks_; }

 private:
  BusClocks clocks_;
  Clock accounted_ = 0;  // up to here
  unsigned waiting_ = 0;
  unsigned served_ = 0;
  static constexpr unsigned kMaxWaiting = 512;
  // Of those that wait, from served_ on: the low bits, as none is 2^31 clocks away.
  std::array<std::uint32_t, kMaxWaiting> arrivals_{};
};

}  // namespace npu::model::hbm
