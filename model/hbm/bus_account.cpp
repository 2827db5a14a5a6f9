// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/bus_account.hpp"

namespace npu::model::hbm {

void BusAccount::settle(Clock now) {
  if (now <= accounted_) return;
  const Clock busy_from = waiting_ == 0 ? now : std::clamp(waiting_since_, accounted_, now);
  clocks_.idle += busy_from - accounted_;
  clocks_.row += now - busy_from - refreshing(busy_from, now);
  accounted_ = now;
}

}  // namespace npu::model::hbm
