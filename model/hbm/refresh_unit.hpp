// SPDX-License-Identifier: Apache-2.0
// Carries the refreshes of a channel out, between its other commands. All-bank: PREab once nothing
// keeps a row open, tRP, REF. Per-bank: PRE of the bank whose turn it is if it is open, tRP, REFpb;
// the others serve on. While the channel is idle whole intervals are skipped.
#pragma once

#include <vector>

#include "model/hbm/command_scheduler.hpp"

namespace npu::model::hbm {

struct RefreshDone {
  Clock begin;  // when it fell due
  Clock end;    // when the banks may be opened again
  unsigned pseudo_channel;
};

class RefreshUnit {
 public:
  // Of the channel whose commands are handed in with each call.
  explicit RefreshUnit(const CommandScheduler& commands);

  // When the next refresh falls due or the next command of a pending one can be issued; kNever
  // while requests it waits for are to be served.
  Clock next() const { return next_; }
  // To be called when what a pending refresh waits for has changed.
  void schedule(const CommandScheduler& commands);
  // What is to be done at next().
  void step(CommandScheduler& commands, Clock at);
  // Of an idle channel, up to `until`: what can be done without looking at commands one by one.
  void run_idle(CommandScheduler& commands, Clock until);

  // RefreshSchedule::set_pace().
  void set_pace(CommandScheduler& commands, Clock pace);
  // Refreshes are appended there, but for those of a long idle time, which are only counted; null:
  // nowhere.
  void log(std::vector<RefreshDone>* log) { log_ = log; }

 private:
  static Clock kept(const CommandScheduler& commands);
  Clock action(const CommandScheduler& commands, unsigned pseudo_channel) const;
  void fall_due(CommandScheduler& commands, unsigned pseudo_channel);
  void close_all_banks(CommandScheduler& commands, unsigned pseudo_channel, Clock at);
  void refresh_all_banks(CommandScheduler& commands, unsigned pseudo_channel, Clock at);
  void refresh_one_bank(CommandScheduler& commands, unsigned pseudo_channel, Clock at);
  void finish(CommandScheduler& commands, unsigned pseudo_channel, Clock at);
  void pass(CommandScheduler& commands, unsigned pseudo_channel, Clock at);
  void skip_idle(CommandScheduler& commands, Clock until);
  void refresh_idle(CommandScheduler& commands, Clock until);

  Clock next_ = kNever;
  // How many of the last refreshes before a time may still delay what comes after it: those that
  // fell due since then minus how long a refresh lasts (two clocks of it for the row bus).
  Clock kept_;
  std::vector<RefreshDone>* log_ = nullptr;
};

}  // namespace npu::model::hbm
