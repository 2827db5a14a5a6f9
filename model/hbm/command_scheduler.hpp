// SPDX-License-Identifier: Apache-2.0
// FR-FCFS over a bounded window: which command a channel issues next, and what it changes. Every
// bank offers at most one column command (its oldest row hit) and one row command (ACT for its
// oldest request when closed, PRE for its oldest miss when open). Each bus issues the earliest
// candidate, the oldest of several.
//
// Between its calls the buses know what each bank offers, as the queue, the timing, the list that
// is served and a pending refresh have it; whoever changes one of them says so (update_*).
#pragma once

#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/burst_run.hpp"
#include "model/hbm/channel_account.hpp"
#include "model/hbm/channel_layout.hpp"
#include "model/hbm/channel_timing.hpp"
#include "model/hbm/column_bus.hpp"
#include "model/hbm/command_reporter.hpp"
#include "model/hbm/lone_burst.hpp"
#include "model/hbm/refresh_schedule.hpp"
#include "model/hbm/request_queue.hpp"
#include "model/hbm/row_bus.hpp"
#include "model/hbm/traffic.hpp"
#include "model/hbm/write_drain.hpp"

namespace npu::model::hbm {

class CommandScheduler {
 public:
  // Served bursts are appended to `done`, in order of their clocks.
  CommandScheduler(const HbmConfig& config, std::vector<BurstDone>& done);

  const ChannelLayout& layout() const { return layout_; }
  const ChannelTiming& timing() const { return timing_; }
  const RequestQueue& queue() const { return queue_; }
  const RowBus& rows() const { return rows_; }
  const ColumnBus& columns() const { return columns_; }
  RefreshSchedule& refreshes() { return refreshes_; }
  const RefreshSchedule& refreshes() const { return refreshes_; }
  ChannelAccount& account() { return account_; }
  const ChannelAccount& account() const { return account_; }
  CommandReporter& reporter() { return reporter_; }

  // The first clock at which a command may issue.
  Clock now() const { return now_; }
  void come_to(Clock at) { now_ = at; }
  void not_before(Clock at) { now_ = std::max(now_, at); }
  // Keeps the candidates' clocks small.
  void follow(Clock now) {
    if (!rows_.follows(now)) rebase(now);
  }

  // The window: whether a burst of this kind fits.
  bool room(bool write) const {
    return split_ ? queue_.queued(write) < limit_[write ? 1 : 0]
                  : queue_.queued(false) + queue_.queued(true) < limit_[0];
  }
  unsigned window(bool write) const { return limit_[write ? 1 : 0]; }
  // Split queues: how many of a kind fit.
  unsigned room_alone(bool write) const { return limit_[write ? 1 : 0] - queue_.queued(write); }
  // A burst that is not in the queue would be counted as if it were.
  bool holds_two_of_each() const { return limit_[0] >= 2 && limit_[1] >= 2; }
  bool idle() const { return account_.waiting() == 0; }
  // Split queues: one kind is served, and there are none of the other.
  Traffic traffic() const {
    const bool writes = drain_.list() != 0;
    if (!split_ || queue_.holds(!writes)) return Traffic::kAny;
    return writes ? Traffic::kWrites : Traffic::kReads;
  }
  // Split queues: there are both.
  bool mixed() const { return split_ && queue_.queued(false) != 0 && queue_.queued(true) != 0; }

  void append(const Burst& burst, Clock at, Traffic traffic);
  void append_turns(const BurstTurns& bursts, Clock at, Traffic traffic);
  void prefetch(int lane) const { queue_.prefetch(lane); }

  // The next command of a bus, if it is due at `at`; what comes then is known afterwards.
  // True: a refresh has waited for that.
  bool step_columns(Clock at, Traffic traffic);
  void step_rows(Clock at, Traffic traffic);
  // One kind alone: RDs or WRs of row hits, which are all that may come on the column bus up to
  // `last`, until then and before the next command of the row bus.
  void serve_hits(Clock last, Traffic traffic);
  // One kind alone: no RD or WR that an ACT was issued for comes before.
  Clock activated_from(Traffic traffic) const;
  // What comes next on both buses is known afterwards.
  void find_next();
  // There is no command to come, but perhaps one RD or WR, which is not in the queue.
  void expect_nothing() { expect_only_column(kNever); }
  void expect_only_column(Clock at) {
    rows_.set_next({});
    columns_.set_next({at, NextCommand::kUnknown});
  }

  // The commands of a burst that waited alone.
  void serve(const LoneBurst& lone);
  // The same one by one, while nothing is on offer (lone_run.hpp).
  void precharge_alone(int lane, Clock at);
  void activate_alone(int lane, std::uint32_t row, Clock at);
  void serve_alone(const Request& request, int lane, Clock at) {
    count_alone(request, lane, at);
    account_.done(at, request.tag, request.write, 1);
    settle_alone(lane, request.write, at);
  }
  // Its parts: what is told and counted, and what it changes for others.
  void count_alone(const Request& request, int lane, Clock at);
  void settle_alone(int lane, bool write, Clock at);
  void serves_alone(bool write) { drain_.served_alone(write); }
  // The bank's oldest hit is what its ACT was issued for.
  void wait_for_activated(int lane);
  void find_next_row() { find_row(Traffic::kAny); }

  // What refreshes are made of. Closes a bank; row commands of one clock occupy their bus.
  void close(int lane, Clock at) {
    precharge(lane, at);
    update_bank(lane);
  }
  void occupy_row_bus(Clock at) { rows_.occupy(at); }
  // REF and REFpb, whose bank is closed.
  void refresh_all_banks(unsigned pseudo_channel, Clock at);
  void refresh_bank(int lane, Clock at);
  // The same while nothing is on offer, so that there is nothing to withdraw or to hold back.
  void close_idle(int lane, Clock at) {
    timing_.precharge(queue_.bank(lane).clocks, at);
    queue_.close_row(lane);
  }
  void refresh_idle_bank(int lane, Clock at, Clock end) {
    Bank& bank = queue_.bank(lane);
    timing_.refresh_bank(bank.clocks, lane, at);
    bank.refreshed = end;
    rows_.occupy_idle(at);
    now_ = at + 1;
  }
  // The end of a bank's last refresh, kNever: it is due or in flight.
  void note_refreshed(int lane, Clock end) { queue_.bank(lane).refreshed = end; }
  void update_bank(int lane) {
    update_row(lane, Traffic::kAny);
    update_column(lane, Traffic::kAny);
  }
  void update_all();

  // Reads alone, each of a row of its own (opened_reads.hpp), command by command. The next row
  // command, `it`, is issued; what comes behind it if that does not depend on what it changes.
  Candidates::Foremost precharge_for_read(int lane, Clock at, const Candidates::Foremost& it);
  Candidates::Foremost activate_for_read(int lane, Clock at, const Candidates::Foremost& it);
  void set_next_row(const NextCommand& next) { rows_.set_next(next); }
  // The RD of a bank that an ACT has opened for it.
  void read_activated(int lane, Clock at);
  // The bank's oldest miss asks for a PRE; if there is none, never.
  void offer_precharge(int lane, Traffic traffic);
  NextCommand earliest_activated(Clock floor) const {
    return columns_.earliest_activated(floor, queue_, timing_, Traffic::kReads);
  }
  // From when on a RD of this bank is allowed.
  Clock read_from(int lane) const {
    return columns_.from(lane, false, timing_.column_from(queue_.bank(lane).clocks, lane, false));
  }
  // The reads that an ACT was issued for are all that may come on the column bus.
  void set_next_activated() {
    not_before(columns_.free());
    columns_.set_next(earliest_activated(columns_.free()));
  }

 private:
  bool split(Traffic traffic) const { return traffic != Traffic::kAny || split_; }
  // Which list the policy serves now.
  std::size_t list(Traffic traffic) const {
    return traffic == Traffic::kAny ? drain_.list() : std::size_t{traffic == Traffic::kWrites};
  }
  bool drain_changed(Traffic traffic) { return traffic == Traffic::kAny && drain_.changed(queue_); }
  bool may_precharge(const Bank& bank, Traffic traffic) const;
  void appended(int lane, RequestQueue::Oldest oldest, Traffic traffic);
  void update_row(int lane, Traffic traffic);
  void update_column(int lane, Traffic traffic);
  void offer_activate(int lane, Slot slot);
  void offer_column(int lane, Slot slot, bool activated, Traffic traffic);
  void find_row(Traffic traffic) { rows_.find(queue_, traffic); }
  void find_column(Traffic traffic) { columns_.find(queue_, timing_, traffic); }
  void serve_hits_of(Clock last, Traffic traffic);
  void serve_hit(RowHits::Hit& hit, Clock at, Traffic traffic);
  bool issue_column(Clock at, Traffic traffic);
  void issue_row(Clock at, Traffic traffic);
  void serve(const Request& request, int lane, Clock at, Traffic traffic);
  void activate(int lane, Clock at) {
    timing_.activate(queue_.bank(lane).clocks, lane, at);
    rows_.activated(lane, timing_);
  }
  void precharge(int lane, Clock at);
  void rebase(Clock now);
  void renumber();

  bool split_;
  std::array<unsigned, 2> limit_;  // of the queues
  Clock now_ = 0;
  ChannelLayout layout_;
  WriteDrain drain_;
  ChannelTiming timing_;
  RowBus rows_;
  ColumnBus columns_;
  RequestQueue queue_;
  RefreshSchedule refreshes_;
  ChannelAccount account_;
  CommandReporter reporter_;
};

}  // namespace npu::model::hbm
