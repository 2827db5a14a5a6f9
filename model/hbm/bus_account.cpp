// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/bus_account.hpp"

namespace npu::model::hbm {

// The clocks of refreshes are taken from each part.
void BusAccount::before_burst(Clock at, Clock turned, Clock row_ready,
                              const RefreshWindows& refreshes) {
  const Clock from = waits_from();
  const Clock turn_end = std::clamp(turned, from, at);
  const Clock row_end = std::clamp(row_ready, turn_end, at);
  const Clock turnaround = refreshes.within(from, turn_end);
  const Clock row = refreshes.within(turn_end, row_end);
  const Clock column = refreshes.within(row_end, at);
  clocks_.idle += from - accounted_;
  clocks_.refresh += turnaround + row + column;
  clocks_.turnaround += turn_end - from - turnaround;
  clocks_.row += row_end - turn_end - row;
  clocks_.column += at - row_end - column;
  accounted_ = at;
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
