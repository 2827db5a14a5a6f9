// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/bank_lanes.hpp"

#include <systemc>

namespace npu::model::hbm {

BankLanes::BankLanes(int ranks, int lanes_per_rank)
    : ranks_(ranks), lanes_per_rank_((lanes_per_rank + kBlock - 1) / kBlock * kBlock) {
  sc_assert(lanes() <= kMaxLanes);
  for (auto* kind : {&act, &pre, &read, &write}) kind->offers_.fill(Kind::kNoTimes);
}

Pick BankLanes::row_candidate(int lane, Clock floor, int act_handicap) const {
  const bool is_act = act.offered(lane) != kNoTime;
  const Lane limit =
      is_act ? std::max(act.offered(lane), block_act[block(lane)]) : pre.offered(lane);
  const Clock time = std::max(absolute(limit), floor);
  return Pick::at(is_act ? time + act_handicap : time, row_age[lane], lane);
}

Pick BankLanes::column_candidate(int lane, Clock floor) const {
  const Lane limit = read.offered(lane) != kNoTime
                         ? std::max(read.offered(lane), block_read[block(lane)])
                         : std::max(write.offered(lane), block_write[block(lane)]);
  const Clock time = std::max(absolute(limit), floor);
  return Pick::at(time, column_age[lane], lane);
}

Pick BankLanes::pick_row_by_loop(Clock floor, int act_handicap) const {
  Pick best;
  for (int lane = 0; lane < lanes(); ++lane) {
    if (act.offered(lane) == kNoTime && pre.offered(lane) == kNoTime) continue;
    const Pick candidate = row_candidate(lane, floor, act_handicap);
    if (candidate.beats(best)) best = candidate;
  }
  return best;
}

Pick BankLanes::pick_column_by_loop(Clock floor) const {
  Pick best;
  for (int lane = 0; lane < lanes(); ++lane) {
    if (read.offered(lane) == kNoTime && write.offered(lane) == kNoTime) continue;
    const Pick candidate = column_candidate(lane, floor);
    if (candidate.beats(best)) best = candidate;
  }
  return best;
}

[[gnu::noinline]] void BankLanes::rebase(Clock now) {
  const Clock shift = now - base_;
  const auto move = [shift](LaneVector& limits) {
    for (int i = 0; i < 8; ++i) {
      // Anything this far back has long been met.
      const Clock moved = std::max<Clock>(limits[i] - shift, -kRebaseAfter);
      if (limits[i] != kNoTime) limits[i] = static_cast<Lane>(moved);
    }
  };
  for (auto* kind : {&act, &pre, &read, &write}) {
    for (auto& limits : kind->limits_) move(limits);
    for (auto& offers : kind->offers_) move(offers);
  }
  for (auto* limits : {&block_act, &block_read, &block_write}) move(*limits);
  base_ = now;
}

}  // namespace npu::model::hbm
