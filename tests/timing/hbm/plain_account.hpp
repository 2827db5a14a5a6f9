// SPDX-License-Identifier: Apache-2.0
// Where the clocks of a data bus went (model/hbm/bus_account.hpp), found after the fact: each clock
// between two slots is held against the definitions, in their order.
#pragma once

#include <map>
#include <vector>

#include "model/hbm/bus_account.hpp"
#include "tests/timing/hbm/plain_controller.hpp"

namespace npu::model::test {

class PlainAccount {
 public:
  using Clock = hbm::Clock;

  PlainAccount(const HbmConfig& config, unsigned pseudo_channel);

  // In order of time, of this pseudo channel: a burst accepted at a clock, and every command.
  void accepted(Clock at) { waiting_.push_back(at + 1); }
  void command(const hbm::Command& command, Clock accepted);  // accepted: of the burst of a RD, WR
  // Up to a clock at which nothing waits.
  hbm::BusClocks finish(Clock end) const;

 private:
  struct Slot {
    hbm::Command command;
    Clock arrived;    // it might have been served from then on
    Clock row_ready;  // and its row from then on
  };
  struct Window {
    Clock begin, end;
    hbm::Command command;
  };
  bool refreshing(const hbm::Command& command, Clock now) const;
  void take(hbm::BusClocks& clocks, const Slot& slot, const Slot* last, Clock waiting) const;

  HbmTimings t_;
  bool per_bank_;
  Clock due_;  // of the next refresh command
  std::map<std::size_t, Clock> acts_;
  std::vector<Clock> waiting_;
  std::vector<Slot> slots_;
  std::vector<Window> refreshes_;
};

}  // namespace npu::model::test
