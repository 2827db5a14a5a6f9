// SPDX-License-Identifier: Apache-2.0
// Bursts that come to an idle channel one a clock, in one row of each of a few banks that take
// turns: the part of a transaction that an interleave holds. As long as nothing else comes and no
// refresh meets them each bank has one command to offer, so that there is nothing to queue. The
// same commands at the same clocks as the general way gives them, which takes over what is left
// then.
#pragma once

#include <array>
#include <cstdint>

#include "model/hbm/burst_run.hpp"
#include "model/hbm/command_scheduler.hpp"
#include "model/hbm/refresh_unit.hpp"

namespace npu::model::hbm {

class LoneRun {
 public:
  static constexpr unsigned kMaxLanes = BurstTurns::kMaxLanes;
  // Whether refreshes let them all come and be served as they may, as no row need be opened.
  static bool passes_refreshes(const CommandScheduler& commands, const BurstTurns& bursts,
                               Clock at);
  // The first of them is accepted at `at`; the channel is idle, and its window has room for all. No
  // refresh is pending or due before all have come, but where passes_refreshes().
  LoneRun(CommandScheduler& commands, RefreshUnit& refresh, const BurstTurns& bursts, Clock at);

  // Decides everything up to and including `until`, the first time when all have come. True: they
  // are served, or what is left is handed over, as a refresh needs the general way. False: the
  // channel has nothing to do before rows().next() and columns().next().
  bool decide(Clock until);
  // What is left waits in the queue, as if it had from the start. To be called when something else
  // comes; the last call.
  void hand_over();

 private:
  // What a bank waits for.
  enum class State : std::uint8_t { kPrecharge, kActivate, kOpened, kHits };
  struct Turn {
    int lane;
    unsigned next;  // its next burst
    State state;
  };
  using Clocks = std::array<Clock, kMaxLanes>;  // by turn
  struct Next {
    Clock at = kNever;
    unsigned turn = 0;
  };

  // The first clock at which a burst may be served.
  Clock arrived(unsigned burst) const { return at_ + burst + 1; }
  Request request_of(const Turn& turn) const;  // its next burst
  Next next_row() const;
  Next next_column() const;
  bool takes_turns() const;
  bool pass_refresh();
  void issue_in_turn(Clock last);
  unsigned follow(unsigned burst, Clock at, Clock last, Clock apart, Clocks& served);
  void issue_row(const Next& next);
  void issue_column(const Next& next);
  void append_from(unsigned first);

  CommandScheduler& commands_;
  RefreshUnit& refresh_;
  BurstTurns bursts_;
  Clock at_;
  unsigned turns_used_;
  unsigned closed_ = 0;       // banks without the row
  Clock last_row_ = -kNever;  // the last PRE or ACT
  std::array<Turn, kMaxLanes> turns_{};
  std::array<unsigned, kMaxLanes> opened_{};  // turns in the order of their ACTs
  unsigned opened_used_ = 0;
};

}  // namespace npu::model::hbm
