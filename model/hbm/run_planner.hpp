// SPDX-License-Identifier: Apache-2.0
// One HBM channel in closed form (hbm.fidelity: run): the clock of every RD and WR is computed when
// its run arrives, without queues of requests and without commands. Bursts of a run that lie in one
// row of each of a few banks are one piece of work.
//
// What is kept of the DRAM:
//  - a bank: which row is open, from when on ACT, PRE and RD or WR are allowed; a row that bursts
//    still wait for counts as open for those that arrive meanwhile
//  - the data bus: which clocks are taken, and, after a RD, those that other stack ids may not use
//    (tCCD_R). A piece takes the first clocks that are free when its banks are ready, so that it
//    overtakes others that wait for theirs.
//  - bank groups (tCCD_L, tRRD_L), the ACT window (tRRD_S, tFAW) and the row command bus, as work:
//    a piece takes its share as it comes
//  - reads first: writes wait until no read does, and are drained together; the turns of the bus
//  - refreshes fall due by their number, close rows and hold banks back
//  - the queues' sizes
// What is not: the age of requests beyond their order, tWTR_L, tRREFD. tests/timing/hbm,
// run_planner_test, holds it against the exact channel; docs/accuracy/fidelity.csv whole runs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/address_map.hpp"
#include "model/hbm/burst_run.hpp"
#include "model/hbm/bus_account.hpp"
#include "model/hbm/channel_account.hpp"
#include "model/hbm/channel_layout.hpp"
#include "model/hbm/clock_calendar.hpp"
#include "model/hbm/constraints.hpp"
#include "model/hbm/waiting_room.hpp"

namespace npu::model::hbm {

class RunPlanner {
 public:
  RunPlanner(const HbmConfig& config, const AddressMap& map);

  // The clock at which the last RD or WR of the run is issued. Runs come in order of arrival.
  Clock plan(const BurstRun& run);

  // Up to `now`.
  ChannelCounts counts(Clock now) const;
  // The data bus of a pseudo channel, accounted for up to `now`. A burst that waits for its row
  // while the bus is free counts as `row`.
  BusClocks bus(unsigned pseudo_channel, Clock now) const;

 private:
  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  // A line of the host's caches.
  struct alignas(64) Bank {
    std::uint32_t row = kNoRow;     // that is open; kNoRow: none is
    std::uint32_t before = kNoRow;  // the one before; bursts may still wait for it
    Clock opened = 0;               // ACT of the row
    Clock last = 0;                 // the last RD or WR of it that is planned
    Clock last_before = 0;          // and of the one before
    Clock column = 0;               // RD or WR of an open row is allowed from here on
    Clock act = 0;                  // ACT likewise
    Clock pre = 0;                  // PRE likewise
    Clock refresh = kNever;         // per-bank refresh: when the next one falls due
  };
  struct Group {
    Clock column = 0, act = 0;
  };
  struct PseudoChannel {
    ClockCalendar taken;  // of the data bus
    Clock act = 0;
    Clock refresh = kNever;  // all-bank refresh: when the next one falls due
    Clock busy_until = 0;    // the last RD or WR ends
    Clock data = 0, idle = 0, held = 0, column = 0;
  };
  // Bursts of a run in one row of each of a few banks, which take turns.
  struct Piece {
    std::array<std::uint16_t, 16> lanes;
    std::uint32_t row = 0;
    unsigned groups = 0;  // lanes
    Clock bursts = 0;
    bool write = false;
    // From when on each bank's next RD or WR may come, and how far they are from coming in turn.
    std::array<Clock, 16> ready;
    Clock ready_apart = 0;
  };
  struct Start {
    Clock decided, column;
  };
  struct Wanted {
    Clock from;      // it waits from then on
    Clock decided;   // its kind is served from then on
    Clock earliest;  // its first RD or WR
  };
  struct Taken {
    Clock first, last;
  };
  // What limits RDs, or WRs.
  struct Kind {
    Clock columns;         // from one to the next
    Clock apart;           // the same, of the data bus too
    Clock of_other_stack;  // to one of another stack
    Clock in_group;        // to one of the same group
    Clock act_to_column, to_pre;
  };

  Kind kind(bool write, const HbmConfig& config) const;
  Clock plan(const BurstRun& run, std::uint64_t first, Clock bursts);
  Taken plan(Piece& piece, Clock from);
  Start begin(bool write, Clock from, const PseudoChannel& bus, const ClockCalendar& stack);
  Clock open_all(Piece& piece, const Wanted& wanted, PseudoChannel& bus);
  bool open(Bank& bank, Group& group, PseudoChannel& bus, std::uint32_t row, const Wanted& wanted);
  Taken take(Piece& piece, PseudoChannel& bus, ClockCalendar& stack, Clock earliest);
  Taken take_in_turn(Piece& piece, PseudoChannel& bus, ClockCalendar& stack);
  void hold_back_others(const Kind& kind, const ClockCalendar& stack, const Taken& taken);
  Taken take_in_a_row(const Kind& kind, PseudoChannel& bus, ClockCalendar& stack, Clock from,
                      Clock bursts);
  void leave(const Piece& piece);
  void refresh_bank(Bank& bank, Clock now);
  Clock refresh_all(unsigned pseudo_channel, Clock now);

  const AddressMap& map_;
  const ChannelLayout layout_;
  const Constraints limits_;
  const std::array<Kind, 2> kinds_;
  const Clock turn_;  // bursts, 1 << turn_shift_
  const unsigned turn_shift_;
  const Clock stretch_;  // bursts
  const bool split_;     // queues
  const Clock burst_clocks_;
  const Clock act_window_;  // clocks that an ACT takes of its pseudo channel's
  const Clock act_clocks_;  // and of the row command bus
  const bool per_bank_;
  const Clock refresh_interval_;
  const Clock refresh_clocks_;
  std::array<Clock, 2> first_refresh_{kNever, kNever};
  Clock bank_period_ = kNever;  // per-bank refresh: from one of a bank to its next
  std::vector<Bank> banks_;     // by lane
  std::vector<Group> groups_;
  std::array<PseudoChannel, 2> buses_;
  std::vector<ClockCalendar> by_others_;  // taken by RDs of other stacks, by stack
  // The last RD; the first and the last WR of those that are drained together.
  Clock reads_end_ = -kNever, writes_begin_ = -kNever, writes_end_ = -kNever;
  Clock row_bus_ = 0;
  Clock port_ = 0;     // takes one burst a clock
  WaitingRoom reads_;  // with a shared queue of both kinds
  WaitingRoom writes_;
  ChannelCounts counts_;
};

}  // namespace npu::model::hbm
