// SPDX-License-Identifier: Apache-2.0
// The controller and the DRAM of one HBM channel: open-page FR-FCFS over a bounded window, at the
// level of single commands, jumping from decision to decision. Integer clocks; no SystemC.
//
// The engine joins its parts: which command comes next and what it changes (CommandScheduler), the
// refreshes (RefreshUnit), and short cuts with the same result: a burst or a run of them alone in
// the channel (LoneBurst, LoneRun) and random reads (OpenedReads). One column and one row command
// fit in a clock, but an ACT holds the row bus, which the pseudo channels share, for act_clocks.
//
// Policies (HbmConfig::policy):
//  - split queues: reads are served until the write queue has filled beyond write_high_percent or
//    no read waits; writes then until it is below write_low_percent and a read waits. A burst
//    whose ACT was issued leaves its queue, has first claim on the column bus and keeps its row
//    open. PRE is allowed unless an older hit waits at the bank. A refresh stops both pseudo
//    channels until both have been refreshed.
//  - shared queue: one window for both kinds; any hit keeps a row open; on the row bus an ACT
//    competes as if it came when it ends. Refreshes of the pseudo channels are staggered by half
//    tREFI and stop only their own.
#pragma once

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/command_scheduler.hpp"
#include "model/hbm/lone_burst.hpp"
#include "model/hbm/lone_run.hpp"
#include "model/hbm/opened_reads.hpp"
#include "model/hbm/refresh_unit.hpp"

namespace npu::model::hbm {

class ChannelEngine {
 public:
  // Served bursts are appended to `done`, in order of their clocks (BurstDone).
  ChannelEngine(const HbmConfig& config, std::vector<BurstDone>& done);

  // The lane of a bank, for Burst::lane.
  std::uint16_t lane(unsigned pseudo_channel, unsigned stack, unsigned group, unsigned bank) const;

  // Whether a burst of this kind fits after everything up to now has been decided.
  bool room(bool write) const { return commands_.room(write); }
  // Takes a burst at clock `at`; it may be served from at + 1 on. At most one per clock, in order
  // of time, not before a clock advanced to, and only with room() after advance(at).
  void accept(const Burst& burst, Clock at) {
    advance(at);
    sc_assert(room(burst.write));
    enter(burst, at);
  }
  // The same after advance(at).
  void enter(const Burst& burst, Clock at);
  // A burst may also be taken before its time, while there is room() and more bursts wait than can
  // be served until then: with split queues, and one kind alone, what comes later changes nothing
  // now. (The decisions of a time in one go are quicker.)
  bool takes_ahead(bool write, Clock at) const {
    return traffic() == (write ? Traffic::kWrites : Traffic::kReads) && !idle() &&
           at <= ahead_until(write) && room_alone(write) != 0;
  }
  // How far ahead, and how many. Writes only while something is certain to wait still, as no more
  // than one is served a clock: one that would be alone is planned by itself (LoneBurst, LoneRun),
  // and when it is served is known earlier then.
  Clock ahead_until(bool write) const {
    const Clock ahead = write ? Clock{waiting()} - 2 : OpenedReads::kAhead;
    return commands_.now() + std::min(ahead, OpenedReads::kAhead);
  }
  unsigned room_alone(bool write) const { return commands_.room_alone(write); }
  void enter_ahead(const Burst& burst, Clock at);
  void enter_ahead(const BurstTurns& bursts, Clock at);  // one a clock
  // Takes bursts, one a clock from `at` on, and decides everything up to `until`, when something
  // else may be taken; how many: those that come until then, or until the next refresh, or none. To
  // be called after advance(at), and only if takes_runs().
  bool takes_runs() const { return idle() && short_cuts_ && takes_runs_; }
  unsigned enter_run(const BurstTurns& bursts, Clock at, Clock until);
  // What is left of them is not alone any more, as something else comes. To be called after
  // advance(), before room().
  void end_run() {
    if (run_) queue_rest();
  }
  // A burst for this bank comes soon.
  void prefetch(int lane) const { commands_.prefetch(lane); }
  // Makes every decision up to and including `until`.
  void advance(Clock until) {
    if (next_decision() <= until) decide(until);
  }
  // There is no command or refresh step before this clock; kNever: none at all.
  // (Of a burst alone in the channel: before its RD or WR, with which the others are issued.)
  Clock next_decision() const {
    return std::min(std::min(commands_.rows().next().at, commands_.columns().next().at),
                    refresh_.next());
  }
  // Issues what is to be issued at next_decision(), if anything.
  void step() { step(next_decision(), Traffic::kAny); }
  // No burst that is waiting now is served before this clock.
  Clock earliest_service();
  bool idle() const { return commands_.idle(); }
  unsigned waiting() const { return commands_.account().waiting(); }

  Clock read_latency() const { return read_latency_; }
  Clock write_latency() const { return write_latency_; }

  const ChannelCounts& counts() const { return commands_.account().counts(); }
  // The data bus of a pseudo channel, accounted for up to `now`.
  BusClocks bus(unsigned pseudo_channel, Clock now) {
    return commands_.account().bus(pseudo_channel, now, commands_.refreshes());
  }

  // Off: every burst and every refresh takes the general way, with the same result. For tests, at
  // the start.
  void take_short_cuts(bool on) { short_cuts_ = on; }
  // It is refreshed so many times as often from now on. To be called after advance().
  void set_refresh_pace(Clock pace) { refresh_.set_pace(commands_, pace); }
  void watch(CommandObserver* observer) { commands_.reporter().watch(observer); }
  // Refreshes are appended there, but for those of a long idle time, which are only counted; null:
  // nowhere.
  void log_refreshes(std::vector<RefreshDone>* log) { refresh_.log(log); }

 private:
  // What the queues hold now, as far as short cuts may make use of it.
  Traffic traffic() const {
    return lone_.waits() || run_ || !short_cuts_ ? Traffic::kAny : commands_.traffic();
  }
  bool serve_hits(Clock at, Clock until, Traffic traffic);
  void step(Clock at, Traffic traffic);
  void decide(Clock until);
  void decide(Clock until, Traffic traffic);
  void while_idle(Clock until);
  void enqueue(const Burst& burst, Clock at);
  bool plan_lone(const Burst& burst, Clock at);
  void queue_lone();
  void queue_rest();
  void serve_lone();

  CommandScheduler commands_;
  RefreshUnit refresh_;
  LoneBurst lone_;  // while it waits it is the next of the column bus, and is not in the queue
  std::optional<LoneRun> run_;  // likewise
  bool short_cuts_ = true;
  HbmTimings t_;
  Clock read_latency_;
  Clock write_latency_;
  bool takes_runs_;
};

}  // namespace npu::model::hbm
