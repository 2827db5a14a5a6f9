// SPDX-License-Identifier: Apache-2.0
// A burst that comes to an idle channel with no refresh in its way: the clocks of its commands
// follow from the limits at once, without queue and candidates. The same commands at the same
// clocks as the general way gives it. What comes before its RD or WR finds it in the queue; until
// then nothing but this shows it.
#pragma once

#include "model/hbm/channel_timing.hpp"
#include "model/hbm/command.hpp"
#include "model/hbm/request_queue.hpp"

namespace npu::model::hbm {

class LoneBurst {
 public:
  // From when on the buses take a command; the column bus that of this burst.
  struct Buses {
    Clock row;
    Clock column;
  };

  // There is none.
  LoneBurst() = default;
  // Accepted at `arrived`, for a bank in this state.
  LoneBurst(const Burst& burst, Clock arrived, const Bank& bank, const ChannelTiming& timing,
            const Buses& buses);

  bool waits() const { return column_ != kNever; }
  const Burst& burst() const { return burst_; }
  Clock arrived() const { return arrived_; }
  // The clocks of its PRE and ACT, kNever: not needed, and of its RD or WR, kNever: there is none.
  Clock precharge() const { return precharge_; }
  Clock activate() const { return activate_; }
  Clock column() const { return column_; }

  // It goes another way, or is served: what it was.
  LoneBurst take() {
    const LoneBurst taken = *this;
    column_ = kNever;
    return taken;
  }

 private:
  Burst burst_{};
  Clock arrived_ = 0;
  Clock precharge_ = kNever;
  Clock activate_ = kNever;
  Clock column_ = kNever;
};

}  // namespace npu::model::hbm
