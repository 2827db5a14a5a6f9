// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_timing.hpp"

namespace npu::model::hbm {

ChannelTiming::ChannelTiming(const HbmTimings& timings, const ChannelLayout& layout)
    : layout_(layout), act_extra_(static_cast<int>(timings.act_clocks) - 1), limits_(timings) {
  for (int lane = 0; lane < layout.lanes(); ++lane) {
    group_of_[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(layout.group_of(lane));
  }
}

void ChannelTiming::refresh_bank(BankClocks& bank, int lane, Clock at) {
  PseudoChannel& here = pseudo_channel(lane);
  raise(bank.act, at + limits_.refresh_bank_to_act);
  raise(here.act, at + limits_.refresh_bank_to_any_act);
  here.refresh_bank = at + limits_.refresh_bank_to_refresh_bank;
}

}  // namespace npu::model::hbm
