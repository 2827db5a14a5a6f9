// SPDX-License-Identifier: Apache-2.0
// The controller and the DRAM of one HBM channel: open-page FR-FCFS over a bounded window, at the
// level of single commands, jumping from decision to decision. Integer clocks; no SystemC.
//
// The time at which a command becomes legal is kept per bank, bank group, stack and pseudo
// channel; every bank offers at most one column command (its oldest row hit) and one row command
// (ACT for its oldest request when closed, PRE for its oldest miss when open). Each bus issues the
// earliest candidate, the oldest of several. One column and one row command fit in a clock, but an
// ACT holds the row bus, which the pseudo channels share, for act_clocks.
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

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/bus_account.hpp"
#include "model/hbm/candidates.hpp"
#include "model/hbm/command.hpp"
#include "model/hbm/constraints.hpp"
#include "model/hbm/lanes.hpp"
#include "model/hbm/request_queue.hpp"

namespace npu::model::hbm {

// A burst whose RD or WR was issued. Data of a read has arrived read_latency() later; that of a
// write has been taken write_latency() later.
struct BurstDone {
  BurstDone(Clock at, std::uint32_t whose, bool is_write)
      : issued(at), tag(whose), write(is_write) {}
  Clock issued;
  std::uint32_t tag;
  bool write;
};

struct RefreshDone {
  Clock begin;  // when it fell due
  Clock end;    // when the banks may be opened again
  unsigned pseudo_channel;
};

struct ChannelCounts {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t row_hits = 0;  // bursts served without an ACT of their own
  std::uint64_t activates = 0;
  std::uint64_t precharges = 0;  // PREab counts once
  std::uint64_t refreshes = 0;
};

class ChannelEngine {
 public:
  // Served bursts are appended to `done`, in order of their clocks.
  ChannelEngine(const HbmConfig& config, std::vector<BurstDone>& done);

  // The lane of a bank, for Burst::lane.
  std::uint16_t lane(unsigned pseudo_channel, unsigned stack, unsigned group, unsigned bank) const;

  // Whether a burst of this kind fits after everything up to now has been decided.
  bool room(bool write) const {
    return split_ ? queue_.queued(write) < limit_[write ? 1 : 0]
                  : queue_.queued(false) + queue_.queued(true) < limit_[0];
  }
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
  // be served until then: with split queues, and only reads, what comes later changes nothing now.
  // (The decisions of a time in one go are quicker.)
  bool takes_ahead(bool write, Clock at) const {
    return !write && traffic() == Traffic::kReads && !idle() && at <= ahead_until() &&
           read_room() != 0;
  }
  // How far ahead, and how many reads.
  Clock ahead_until() const { return now_ + kAhead; }
  unsigned read_room() const { return limit_[0] - queue_.queued(false); }
  void enter_ahead(const Burst& burst, Clock at);
  // A burst for this bank comes soon.
  void prefetch(int lane) const { queue_.prefetch(lane); }
  // Makes every decision up to and including `until`.
  void advance(Clock until) {
    if (next_decision() <= until) decide(until);
  }
  // There is no command or refresh step before this clock; kNever: none at all.
  // (Of a burst alone in the channel: before its RD or WR, with which the others are issued.)
  Clock next_decision() const { return std::min(std::min(row_.at, column_.at), next_refresh_); }
  // Issues what is to be issued at next_decision(), if anything.
  void step() { step(next_decision(), Traffic::kAny); }
  // No burst that is waiting now is served before this clock.
  Clock earliest_service();
  bool idle() const { return waiting() == 0; }
  unsigned waiting() const { return bus_[0].waiting() + bus_[1].waiting(); }

  Clock read_latency() const { return read_latency_; }
  Clock write_latency() const { return write_latency_; }

  const ChannelCounts& counts() const { return counts_; }
  // The data bus of a pseudo channel, accounted for up to `now`.
  BusClocks bus(unsigned pseudo_channel, Clock now);

  // Off: every burst and every refresh takes the general way, and every command is searched for,
  // with the same result. For tests, at the start.
  void take_short_cuts(bool on);
  void watch(CommandObserver* observer) { observer_ = observer; }
  // Refreshes are appended there, but for those of a long idle time, which are only counted; null:
  // nowhere.
  void log_refreshes(std::vector<RefreshDone>* log) { refresh_log_ = log; }

 private:
  struct Refresh {
    Clock due = 0;
    bool pending = false;
    Clock behind = 0;      // no refresh beyond the pending one is due before
    Clock next_legal = 0;  // REFpb: tRREFD after the last one
    int next_lane = 0;     // per-bank refresh: whose turn it is, within the pseudo channel
  };

  // Where a lane lies; a table, because the divisions would be felt. (What is asked for most often
  // is not looked up in it.)
  struct alignas(8) Place {
    std::uint8_t pseudo_channel;
    std::uint8_t stack;
    std::uint8_t group;        // of all in the channel
    std::uint8_t group_begin;  // its first lane
    std::uint8_t in_rank;
  };
  // Clocks from which a bank group allows a command.
  struct Group {
    Clock act = 0;   // tRRD_L
    Clock read = 0;  // tCCD_L, tWTR_L
    Clock write = 0;
  };
  struct PseudoChannel {
    Clock act = 0;  // tRRD_S, tFAW, tRREFD
    std::array<Clock, 4> last_acts{-kNever, -kNever, -kNever, -kNever};
    unsigned act_cursor = 0;
    Clock last_column = -kNever;
    bool last_write = false;
  };
  // Kinds of candidates: on the row bus PRE or ACT, on the column bus RD or WR.
  static constexpr unsigned kPre = 0, kAct = 1, kRead = 0, kWrite = 1;
  static constexpr int kUnknown = -1;
  static constexpr Clock kAhead = 4000;
  // The next command on a bus: none comes before `at`; which one comes then is looked for when it
  // is needed.
  struct Next {
    Clock at = kNever;
    int lane = kUnknown;

    // Another one may come at `time`.
    void offered(Clock time) {
      if (time <= at) *this = {time, kUnknown};
    }
    void withdrawn(int gone) { lane = lane == gone ? kUnknown : lane; }
  };

  const Place& place(int lane) const { return places_[static_cast<std::size_t>(lane)]; }
  Group& group(int lane) { return groups_[static_cast<unsigned>(lane) >> group_shift_]; }
  const Group& group(int lane) const {
    return groups_[static_cast<unsigned>(lane) >> group_shift_];
  }
  PseudoChannel& pseudo_channel(int lane) { return pseudo_channels_[pseudo_channel_of(lane)]; }
  // From when on a bank and its bank group allow a command.
  Clock act_limit(int lane) const { return std::max(queue_.bank(lane).act, group(lane).act); }
  Clock column_limit(int lane, bool write) const {
    const Bank& bank = queue_.bank(lane);
    return write ? std::max(bank.write, group(lane).write) : std::max(bank.read, group(lane).read);
  }
  // The same with what the pseudo channel and the stack impose.
  Clock column_from(int lane, bool write) const {
    return std::max(column_limit(lane, write), columns_.held_until(write ? kWrite : kRead, lane));
  }
  static std::size_t block(int lane) { return static_cast<unsigned>(lane) / Candidates::kBlock; }
  // Keeps the candidates' clocks small.
  void follow(Clock now) {
    if (!rows_.follows(now)) rebase(now);
  }
  void rebase(Clock now);
  static void raise(Clock& limit, Clock to) { limit = std::max(limit, to); }

  // What the queues hold while commands are decided. kReads: split queues with nothing but reads.
  // An argument that the compiler knows, so that the questions it answers are not asked.
  enum class Traffic : bool { kAny, kReads };
  Traffic traffic() const {
    const bool reads = split_ && list_ == 0 && !queue_.holds_writes() && !lone() && short_cuts_;
    return reads ? Traffic::kReads : Traffic::kAny;
  }
  static bool write(const Request& request, Traffic traffic) {
    return traffic == Traffic::kAny && request.write;
  }
  bool split(Traffic traffic) const { return traffic == Traffic::kReads || split_; }
  // Which list the policy serves now.
  std::size_t list(Traffic traffic = Traffic::kAny) const {
    return traffic == Traffic::kReads ? 0 : list_;
  }
  unsigned pseudo_channel_of(int lane) const { return lane < lanes_per_pseudo_channel_ ? 0 : 1; }
  bool refresh_pending() const { return refresh_[0].pending || refresh_[1].pending; }
  bool gated(int lane) const { return refresh_pending() && gated_by_refresh(lane); }
  bool gated_by_refresh(int lane) const;
  bool may_precharge(const Bank& bank, Traffic traffic) const;
  void update_row(int lane, Traffic traffic = Traffic::kAny);
  void update_column(int lane, Traffic traffic = Traffic::kAny);
  void offer_precharge(int lane, Slot slot);
  // An ACT that stood back for a PRE may come before it; whoever changes a PRE looks again.
  void reconsider_row() {
    if (row_.at != kNever) row_ = {std::max(now_, row_bus_free_), kUnknown};
  }
  void offer_activate(int lane, Slot slot);
  void offer_column(int lane, Slot slot, bool opened, Traffic traffic);
  void no_column(int lane);
  void keep_columns();
  void hold_group(int lane, bool write);
  void renumber();
  void update_bank(int lane) {
    update_row(lane);
    update_column(lane);
  }
  void update_all();
  void find_row(Traffic traffic = Traffic::kAny);
  void find_column(Traffic traffic = Traffic::kAny);
  bool lone() const { return lone_.column != kNever; }
  bool oldest_is_first(Clock floor, Traffic traffic);
  Next first_activated(Clock floor) const;
  void step(Clock at, Traffic traffic);
  void decide(Clock until);
  void decide(Clock until, Traffic traffic);
  void while_idle(Clock until);
  // Split queues: decides anew whether reads or writes are served; true if that changed.
  bool write_mode_changed(Traffic traffic = Traffic::kAny) {
    if (traffic == Traffic::kReads || !split_) return false;
    return (list_ | queue_.queued(true)) != 0 && switch_write_mode();
  }
  bool switch_write_mode();
  void enqueue(const Burst& burst, Clock at);
  void append(const Burst& burst, Clock at, Traffic traffic);

  // lone_burst.cpp: a burst that comes to an idle channel
  bool plan_lone(const Burst& burst, Clock at);
  void queue_lone();
  void serve_lone();

  // opened_reads.cpp: reads alone, each of a row of its own
  bool decide_opened_reads(Clock until);
  bool serve_activated(Clock last, Clock& horizon);
  void open_rows(Clock& horizon);
  Candidates::Foremost row_candidate(int lane) const;
  void issue_rows(Clock stop, Clock& horizon);
  Clock before_refresh() const;
  void prefetch_refreshes() const;
  void precharge_for_read(int lane, Clock at);
  void activate_for_read(int lane, Clock at);
  void read_opened(int lane, Slot slot, Clock at);

  // engine_commands.cpp: the commands and what they forbid afterwards
  void issue_column(Clock at, Traffic traffic);
  void issue_row(Clock at, Traffic traffic);
  void build_distances();
  void after_read(int lane, Clock at);
  void after_write(int lane, Clock at);
  void activate(int lane, Clock at);
  void hold_activates(unsigned pseudo_channel, Clock until);
  void precharge(int lane, Clock at);
  void account(const Request& request, int lane, Clock at, Traffic traffic);
  void account_in_full(int lane, bool write, Clock at, Clock ready);
  void report(CommandKind kind, int lane, std::uint32_t row, Clock at);
  void report_noted();

  // refresh.cpp
  void start_refresh();
  void step_refresh(Clock at);
  void refresh_all_banks(unsigned pseudo_channel, Clock at);
  void refresh_one_bank(unsigned pseudo_channel, Clock at);
  void close_all_banks(unsigned pseudo_channel, Clock at);
  void fall_due(unsigned pseudo_channel);
  void end_refresh(unsigned pseudo_channel, Clock end);
  RefreshWindows& refreshes(unsigned pseudo_channel);
  void note_refreshed(unsigned pseudo_channel, Clock end);
  RefreshWindows refreshes_of(int lane, Clock now) const;
  void schedule_refresh();
  Clock refresh_action(unsigned pseudo_channel) const;
  Clock bank_refresh_limit(unsigned pseudo_channel) const;
  bool any_open(unsigned pseudo_channel) const;
  int refresh_lane(unsigned pseudo_channel) const;
  void skip_idle_refreshes(Clock until);
  void refresh_idle(Clock until);
  bool can_refresh(unsigned pseudo_channel, Clock at) const;
  void update_gated(unsigned pseudo_channel, int lane);
  void close_refreshed(unsigned pseudo_channel, Clock refreshes);
  void take_turns(Refresh& refresh, Clock turns) const;
  Clock turns_before(unsigned pseudo_channel, int lane) const;
  Clock refresh_interval() const { return static_cast<Clock>(per_bank_ ? t_.trefi_pb : t_.trefi); }

  HbmTimings t_;
  bool split_;
  bool per_bank_;
  std::array<unsigned, 2> limit_;
  unsigned write_high_;  // percent of a write queue times its size
  unsigned write_low_;
  int banks_per_rank_;
  int lanes_per_pseudo_channel_;
  unsigned group_shift_;  // banks of a group: a power of two
  int act_extra_;         // clocks an ACT lasts beyond its first
  int act_handicap_;      // clocks by which it competes later
  Clock read_latency_;
  Clock write_latency_;

  int lanes_per_rank_;  // whole blocks of Candidates
  int lanes_;
  Constraints limits_;
  std::array<Place, Candidates::kMaxLanes> places_{};
  std::array<Group, Candidates::kMaxLanes> groups_{};
  std::array<PseudoChannel, 2> pseudo_channels_;
  // From a RD or WR in a block to what comes in the others.
  struct Distances {
    Candidates::Distances to_read, to_write;
  };
  std::array<Distances, Candidates::kMaxBlocks> after_read_{}, after_write_{};
  // Whether a bank cannot be opened, or another of the pseudo channel, as the row bus is free again
  // after its PRE or ACT.
  bool long_trp_, long_trrd_;
  std::array<Candidates::Lanes, 2> lanes_of_;  // of a pseudo channel
  Candidates rows_;
  // Not kept up to date while the only ones are reads an ACT was issued for.
  Candidates columns_;
  bool columns_kept_ = false;
  LaneSet hits_offered_;  // lanes whose candidate in columns_ is a queued request
  LaneList activated_;    // in order of their ACTs, those that wait for the RD or WR it was for
  // A burst that came to an idle channel, and the clocks of its commands (kNever: not needed).
  // What comes before its RD or WR finds it in the queue; until then nothing else shows it.
  struct Lone {
    Burst burst{};
    Clock arrived = 0;
    Clock precharge = kNever;
    Clock activate = kNever;
    Clock column = kNever;  // kNever: there is no such burst
  };
  Lone lone_;
  bool short_cuts_ = true;
  RequestQueue queue_;
  Next row_, column_;     // (column_.at also for a lone burst)
  std::size_t list_ = 0;  // which of a bank's lists is served: split queues, writes: 1
  unsigned opened_ = 0;   // requests that wait for their RD or WR behind their ACT
  Clock now_ = 0;         // first clock at which a command may issue
  Clock row_bus_free_ = 0;
  Clock column_bus_free_ = 0;
  Clock next_refresh_ = kNever;
  // How many of the last refreshes before a time may still delay what comes after it: those that
  // fell due since then minus how long a refresh lasts (two clocks of it for the row bus).
  Clock kept_refreshes_;
  std::array<Refresh, 2> refresh_;
  std::array<int, 2> last_refreshed_{};  // per-bank refresh: the lane of the last or pending one
  // By lane; all-bank refresh: of a pseudo channel, at its first lane.
  std::array<RefreshWindows, Candidates::kMaxLanes> refreshes_{};
  std::array<BusAccount, 2> bus_;
  ChannelCounts counts_;
  std::vector<BurstDone>& done_;
  CommandObserver* observer_ = nullptr;
  bool noting_ = false;  // commands are not decided in order, and reported later
  std::vector<Command> noted_;
  std::vector<RefreshDone>* refresh_log_ = nullptr;
};

}  // namespace npu::model::hbm
