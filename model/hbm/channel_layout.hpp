// SPDX-License-Identifier: Apache-2.0
// Which lanes of a channel (address_map.hpp: lane_number) belong to the same bank group and pseudo
// channel. A small value that never changes: each part that asks keeps its own.
#pragma once

#include <cstddef>

#include "model/config/hbm_timings.hpp"

namespace npu::model::hbm {

class ChannelLayout {
 public:
  explicit ChannelLayout(const HbmTimings& timings);

  int lanes() const { return lanes_; }
  unsigned pseudo_channels() const { return pseudo_channels_; }
  int lanes_per_pseudo_channel() const { return lanes_per_pseudo_channel_; }
  int first_lane(unsigned pseudo_channel) const {
    return static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  }
  // Behind its last lane.
  int end_lane(unsigned pseudo_channel) const {
    return first_lane(pseudo_channel) + lanes_per_pseudo_channel_;
  }
  unsigned pseudo_channel_of(int lane) const {
    return static_cast<unsigned>(lane >= lanes_per_pseudo_channel_);
  }

  int banks_per_group() const { return 1 << group_shift_; }
  // Of all in the channel.
  std::size_t group_of(int lane) const { return static_cast<unsigned>(lane) >> group_shift_; }

  // A rank: the banks of one stack id in a pseudo channel. Its lanes are whole blocks of
  // Candidates, those beyond its banks pad it.
  int stacks() const { return stacks_; }
  int lanes_per_rank() const { return lanes_per_rank_; }
  int banks_per_rank() const { return banks_per_rank_; }
  int stack_of(int lane) const { return (lane >> rank_shift_) & (stacks_ - 1); }
  int in_rank(int lane) const { return lane % lanes_per_rank_; }

 private:
  int lanes_per_pseudo_channel_;
  unsigned group_shift_;  // banks of a group: a power of two
  int lanes_;
  int stacks_;          // a power of two
  int lanes_per_rank_;  // 1 << rank_shift_
  int rank_shift_;
  int banks_per_rank_;
  unsigned pseudo_channels_;
};

}  // namespace npu::model::hbm
