// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_account.hpp"

namespace npu::model::hbm {

ChannelAccount::ChannelAccount(const HbmTimings& timings, const Constraints& limits,
                               std::vector<BurstDone>& done)
    : burst_clocks_(static_cast<int>(timings.burst_clocks)),
      turnaround_{limits.columns[1][0], limits.columns[0][1]},
      done_(done) {}

// With turnaround and refreshes.
[[gnu::noinline]] void ChannelAccount::before_burst(int lane, unsigned pseudo_channel, bool write,
                                                    Clock at, Clock ready,
                                                    const RefreshSchedule& refreshes) {
  Bus& bus = buses_[pseudo_channel];
  const Clock turned = bus.last.write == write ? -kNever : bus.last.at + turnaround_[write ? 1 : 0];
  bus.account.before_burst(at, turned, ready, refreshes.windows_of(lane, at));
}

}  // namespace npu::model::hbm
