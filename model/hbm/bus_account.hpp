// SPDX-License-Identifier: Apache-2.0
// Where the clocks of one pseudo channel's data bus went.
//
// A RD or WR at clock t takes the slot [t, t + burst_clocks): its data moves a fixed latency later,
// so slots stand for the data bus. The clocks between the end of one slot and the begin of the
// next belong, each to the first of these that holds for it, to
//   idle        nothing was queued for the pseudo channel
//   refresh     a refresh was due or under way (of the pseudo channel, or of the bank served next)
//   turnaround  the bus was turning from reads to writes or back (tRTW, tWTR_S)
//   row         the row served next was not yet open long enough (PRE, ACT, tRCD), or the burst
//               served next had not arrived yet while others waited for rows
//   column      the row was open and the bus free, but tCCD_L, tWTR_L, tCCD_R, or the column
//               command bus held the command back
// so that the five and the data clocks add up to the time accounted for.
#pragma once

#include <algorithm>
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

class BusAccount {
 public:
  // A burst may be served from `at` on.
  void queued(Clock at) {
    if (waiting_++ == 0) waiting_since_ = at;
  }
  // From `begin` to `end` the pseudo channel cannot serve; kNever: the end is not yet known.
  // Windows do not overlap and come in order.
  void refresh(Clock begin, Clock end) {
    refresh_begin_ = begin;
    refresh_end_ = end;
  }
  // Up to here all clocks are accounted for.
  Clock accounted() const { return accounted_; }
  // The clocks between accounted() and a burst at `at`, which is later. The bus was turning until
  // `turned`, the row was ready at `row_ready`. `refreshed`: the refresh window concerns this
  // burst.
  void before_burst(Clock at, Clock turned, Clock row_ready, bool refreshed) {
    Clock from = std::max(accounted_, waiting_since_);
    clocks_.idle += from - accounted_;
    Clock left = at - from;
    if (refreshed) {
      left -= refreshing(from, at);
      if (refresh_end_ <= at) from = std::max(from, refresh_end_);
    }
    Clock turnaround = 0;
    if (turned > from) {
      turnaround = std::min(std::min(turned, at) - from, left);
      from = turned;
    }
    const Clock row = std::clamp<Clock>(std::min(row_ready, at) - from, 0, left - turnaround);
    clocks_.turnaround += turnaround;
    clocks_.row += row;
    clocks_.column += left - turnaround - row;
    accounted_ = at;
  }
  // A waiting burst takes the slot [at, at + clocks), not later than accounted().
  void burst(Clock at, Clock clocks) {
    const Clock end = std::max(accounted_, at + clocks);
    clocks_.data += end - accounted_;
    accounted_ = end;
    --waiting_;
  }
  // Accounts for the time before `now`: a wait that goes on counts as refresh or row.
  void settle(Clock now);
  unsigned waiting() const { return waiting_; }
  const BusClocks& clocks() const { return clocks_; }

 private:
  // Takes the refresh clocks between two times.
  Clock refreshing(Clock from, Clock until) {
    const Clock overlap = std::min(until, refresh_end_) - std::max(from, refresh_begin_);
    if (overlap <= 0) return 0;
    clocks_.refresh += overlap;
    return overlap;
  }

  BusClocks clocks_;
  Clock accounted_ = 0;  // up to here
  Clock waiting_since_ = 0;
  Clock refresh_begin_ = kNever;
  Clock refresh_end_ = kNever;
  unsigned waiting_ = 0;
};

}  // namespace npu::model::hbm
