// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/bus_account.hpp"

namespace npu::model::hbm {

// Takes idle and refresh clocks off the gap before `until`; returns what is left.
Clock BusAccount::gap(Clock until, bool refreshed) {
  const Clock busy_from = waiting_ == 0 ? until : std::clamp(waiting_since_, accounted_, until);
  clocks_.idle += busy_from - accounted_;
  Clock left = until - busy_from;
  if (refreshed) {
    const Clock overlap = std::min(until, refresh_end_) - std::max(busy_from, refresh_begin_);
    if (overlap > 0) {
      clocks_.refresh += overlap;
      left -= overlap;
    }
  }
  return left;
}

void BusAccount::burst(Clock at, Clock clocks, Clock turned, Clock row_ready, bool refreshed) {
  if (at > accounted_) {
    Clock from = std::max(accounted_, waiting_since_);
    if (refreshed && refresh_end_ <= at) from = std::max(from, refresh_end_);
    const Clock left = gap(at, refreshed);
    const Clock turnaround = std::clamp<Clock>(std::min(turned, at) - from, 0, left);
    from = std::max(from, turned);
    const Clock row = std::clamp<Clock>(std::min(row_ready, at) - from, 0, left - turnaround);
    clocks_.turnaround += turnaround;
    clocks_.row += row;
    clocks_.column += left - turnaround - row;
    accounted_ = at;
  }
  const Clock end = std::max(accounted_, at + clocks);
  clocks_.data += end - accounted_;
  accounted_ = end;
  --waiting_;
}

void BusAccount::settle(Clock now) {
  if (now <= accounted_) return;
  clocks_.row += gap(now, true);
  accounted_ = now;
}

}  // namespace npu::model::hbm
