// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/bus_account.hpp"

namespace npu::model::hbm {

// As without refreshes, whose clocks are then taken from each part.
void BusAccount::before_burst(Clock at, Clock turned, Clock row_ready,
                              const RefreshWindows& refreshes) {
  const auto [from, turn_end, row_end] = parts(at, turned, row_ready);
  const Clock turnaround = refreshes.within(from, turn_end);
  const Clock row = refreshes.within(turn_end, row_end);
  const Clock column = refreshes.within(row_end, at);
  clocks_.refresh += turnaround + row + column;
  clocks_.turnaround -= turnaround;
  clocks_.row -= row;
  clocks_.column -= column;
  before_burst(at, turned, row_ready);
}

void BusAccount::settle(Clock now, const RefreshWindows& refreshes) {
  if (now <= accounted_) return;
  const Clock busy_from = waiting_ == 0 ? now : std::min(waits_from(), now);
  clocks_.idle += busy_from - accounted_;
  const Clock refresh = refreshes.within(busy_from, now);
  clocks_.refresh += refresh;
  clocks_.row += now - busy_from - refresh;
  accounted_ = now;
}

}  // namespace npu::model::hbm
