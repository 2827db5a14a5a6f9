// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/row_bus.hpp"

namespace npu::model::hbm {

RowBus::RowBus(const ChannelLayout& layout, const ChannelTiming& timing, bool late_acts)
    : candidates_(layout.lanes()),
      layout_(layout),
      act_extra_(timing.act_extra()),
      act_handicap_(late_acts ? act_extra_ : 0),
      long_trp_(timing.limits().pre_to_act > 1),
      long_trrd_(timing.limits().any_act_to_act > 1 + act_extra_) {
  candidates_.set_group_size(layout.banks_per_group());
  for (unsigned p = 0; p < 2; ++p) {
    const bool there = p < layout.pseudo_channels();
    lanes_of_[p] = Candidates::lanes(there ? layout.first_lane(p) : 0,
                                     there ? layout.lanes_per_pseudo_channel() : 0);
  }
}

void RowBus::find(const RequestQueue& queue, Traffic traffic) {
  const int handicap = acts_are_late(traffic) ? act_handicap_ : 0;
  const auto found = candidates_.first_row(next_.at, handicap);
  if (found.age < 0) {
    next_ = {};
    return;
  }
  const int lane = queue.lane_of_age(found.age);
  const bool handicapped = handicap != 0 && !queue.bank(lane).open;
  next_ = {found.time - (handicapped ? handicap : 0), lane};
}

}  // namespace npu::model::hbm
