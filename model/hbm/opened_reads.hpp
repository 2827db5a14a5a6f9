// SPDX-License-Identifier: Apache-2.0
// Reads alone, each of a row of its own (random accesses). The row bus is decided command by
// command; the RDs follow their ACTs by tRCD or little more, so that an RD is known once no later
// ACT can bring one before it, mostly together with its own ACT. Nothing it allows or forbids
// concerns the row bus before. So all up to the next refresh or arrival is decided at one go, the
// row bus leading. The same commands at the same clocks as the general way gives them.
#pragma once

#include "model/hbm/command_scheduler.hpp"
#include "model/hbm/refresh_unit.hpp"

namespace npu::model::hbm {

// One such go. The only candidates of the column bus are reads an ACT was issued for.
class OpenedReads {
 public:
  // How far ahead of its begin a go reaches.
  static constexpr Clock kAhead = 4000;

  // Of what comes from `from` on, the next decision, up to `until`.
  OpenedReads(CommandScheduler& commands, RefreshUnit& refresh, Clock from, Clock until);

  // Decides that or, if it is earlier, what comes before a row hit or an all-bank refresh; false:
  // that comes first, or next.
  bool decide();

 private:
  void open_rows();
  void issue_rows(Clock stop);
  bool serve_activated(Clock last);
  Clock next_decision() const;
  // Row hits of an open bank are to be offered with its RD. True: there are some.
  bool ends_before_hits_of(const Bank& bank) {
    if (bank.lists[0].hit == kNoRequest) return false;
    horizon_ = std::min(horizon_, bank.clocks.read - 1);
    return true;
  }

  CommandScheduler& commands_;
  RefreshUnit& refresh_;
  Clock from_;
  // The last clock to decide. It moves before an RD with a row hit behind it, which is to be
  // offered then.
  Clock horizon_;
};

}  // namespace npu::model::hbm
