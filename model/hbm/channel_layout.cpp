// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_layout.hpp"

#include <systemc>

#include "model/hbm/address_map.hpp"

namespace npu::model::hbm {

ChannelLayout::ChannelLayout(const HbmTimings& timings)
    : group_shift_(static_cast<unsigned>(__builtin_ctz(timings.banks_per_group))),
      stacks_(static_cast<int>(timings.stacks)),
      lanes_per_rank_(hbm::lanes_per_rank(timings)),
      rank_shift_(__builtin_ctz(static_cast<unsigned>(lanes_per_rank_))),
      banks_per_rank_(static_cast<int>(timings.bank_groups * timings.banks_per_group)),
      pseudo_channels_(timings.pseudo_channels) {
  sc_assert(timings.pseudo_channels >= 1 && timings.pseudo_channels <= 2);
  sc_assert(timings.banks_per_group <= 8 && 8 % timings.banks_per_group == 0);
  sc_assert(1 << rank_shift_ == lanes_per_rank_ && (stacks_ & (stacks_ - 1)) == 0);
  lanes_per_pseudo_channel_ = stacks_ * lanes_per_rank_;
  lanes_ = static_cast<int>(pseudo_channels_) * lanes_per_pseudo_channel_;
}

}  // namespace npu::model::hbm
