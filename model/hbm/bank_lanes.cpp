// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/bank_lanes.hpp"

#include <algorithm>
#include <systemc>

namespace npu::model::hbm {

BankLanes::BankLanes(int ranks, int lanes_per_rank)
    : ranks_(ranks), lanes_per_rank_((lanes_per_rank + 7) / 8 * 8) {
  sc_assert(ranks_ <= kMaxRanks && lanes() <= kMaxLanes);
  for (int i = 0; i < lanes(); i += 8) {
    vector_ranks_[static_cast<std::size_t>(i / 8)] = static_cast<std::uint8_t>(i / lanes_per_rank_);
  }
  row_none.fill(kNoTime);
  column_none.fill(kNoTime);
}

Pick BankLanes::row_candidate(int lane, Clock floor, int act_handicap) const {
  const auto i = static_cast<std::size_t>(lane);
  const bool is_act = row_kind[i] == kAct;
  const std::size_t rank = rank_of_vector(lane / 8);
  const Lane limit = is_act ? std::max(act[i], rank_act[rank]) : pre[i];
  const Clock time = std::max(absolute(limit), floor);
  return {time, is_act ? time + act_handicap : time, row_age[i], lane};
}

Pick BankLanes::column_candidate(int lane, Clock floor) const {
  const auto i = static_cast<std::size_t>(lane);
  const std::size_t rank = rank_of_vector(lane / 8);
  const Lane limit = column_kind[i] == kWrite ? std::max(write[i], rank_write[rank])
                                              : std::max(read[i], rank_read[rank]);
  const Clock time = std::max(absolute(limit), floor);
  return {time, time, column_age[i], lane};
}

Pick BankLanes::pick_row_by_loop(Clock floor, int act_handicap) const {
  Pick best;
  for (int lane = 0; lane < lanes(); ++lane) {
    if (row_none[static_cast<std::size_t>(lane)] != 0) continue;
    const Pick candidate = row_candidate(lane, floor, act_handicap);
    if (candidate.beats(best)) best = candidate;
  }
  return best;
}

Pick BankLanes::pick_column_by_loop(Clock floor) const {
  Pick best;
  for (int lane = 0; lane < lanes(); ++lane) {
    if (column_none[static_cast<std::size_t>(lane)] != 0) continue;
    const Pick candidate = column_candidate(lane, floor);
    if (candidate.beats(best)) best = candidate;
  }
  return best;
}

void BankLanes::rebase(Clock now) {
  const Clock shift = now - base_;
  const auto move = [shift](Lane& limit) {
    // Anything this far back has long been met.
    limit = static_cast<Lane>(std::max<Clock>(limit - shift, -kRebaseAfter));
  };
  for (auto* limits : {&act, &pre, &read, &write}) {
    std::for_each(limits->begin(), limits->begin() + lanes(), move);
  }
  for (auto* limits : {&rank_act, &rank_read, &rank_write}) {
    std::for_each(limits->begin(), limits->end(), move);
  }
  base_ = now;
}

}  // namespace npu::model::hbm
