// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/lone_burst.hpp"

#include <algorithm>

namespace npu::model::hbm {

LoneBurst::LoneBurst(const Burst& burst, Clock arrived, const Bank& bank,
                     const ChannelTiming& timing, const Buses& buses)
    : burst_(burst), arrived_(arrived), column_(buses.column) {
  if (bank.open && bank.row == burst.row) return;
  const Constraints& limits = timing.limits();
  Clock activate = timing.activate_from(bank.clocks, burst.lane);
  Clock row_bus = buses.row;
  if (bank.open) {
    precharge_ = std::max(row_bus, bank.clocks.pre);
    row_bus = precharge_ + 1;
    activate = std::max(activate, precharge_ + limits.pre_to_act);
  }
  activate_ = std::max(row_bus, activate);
  const Clock trcd = limits.act_to_column[burst.write ? 1 : 0];
  column_ = std::max(column_, activate_ + std::max<Clock>(trcd, 1));
}

}  // namespace npu::model::hbm
