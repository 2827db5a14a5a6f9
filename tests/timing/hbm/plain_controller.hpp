// SPDX-License-Identifier: Apache-2.0
// What hbm::ChannelEngine is to be equal to, written down as plainly as possible: FR-FCFS clock by
// clock. Every clock looks at every request, oldest first; whether a command is legal follows from
// the history of commands and the table. Times as JEDEC counts them: an ACT of several clocks opens
// its row with its last one.
//
// Within a clock: refreshes fall due, then at most one column command and one command on the row
// bus, refreshes before requests. Whether reads or writes are served (split queues) is a matter of
// what is queued at the moment: a row command may already follow the change that the column
// command before it brought about. A burst accepted at a clock is seen from the next one on.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/channel_engine.hpp"
#include "tests/timing/hbm/plain_history.hpp"
#include "tests/timing/hbm/rules.hpp"

namespace npu::model::test {

struct PlainBurst {
  PlainBank at;
  std::uint32_t row = 0;
  std::uint32_t tag = 0;
  bool write = false;
};

class PlainController {
 public:
  using Clock = hbm::Clock;
  using Kind = hbm::CommandKind;

  explicit PlainController(const HbmConfig& config);

  // Everything that happens at a clock; every clock from 0 on, in turn.
  void tick(Clock now);
  // Whether a burst may be accepted after tick().
  bool room(bool write) const;
  void accept(const PlainBurst& burst);
  bool idle() const { return requests_.empty(); }

  const std::vector<hbm::Command>& commands() const { return commands_; }
  const std::vector<hbm::BurstDone>& done() const { return done_; }
  const hbm::ChannelCounts& counts() const { return counts_; }

 private:
  struct Request {
    PlainBurst burst;
    bool activated = false;  // an ACT was issued for it
  };
  struct Row {
    bool open = false;
    std::uint32_t number = 0;
    bool opened = false;  // split queues: the burst it was opened for still waits
  };
  struct Refresh {
    Clock due = 0;
    bool pending = false;
    std::size_t turn = 0;  // per-bank refresh: the bank, counted within the pseudo channel
  };
  struct Choice {
    std::size_t request;
    Kind kind;
    Clock earliest;
    Clock competes;  // as if it came then
  };

  Row& row(const PlainBank& b) { return rows_[history_.number(b)]; }
  const Row& row(const PlainBank& b) const { return rows_[history_.number(b)]; }
  // Split queues: it has left its queue.
  bool opened(const Request& r) const { return split_ && r.activated; }
  bool hit(const Request& r) const;
  unsigned queued(bool write) const;
  bool served(const Request& r) const { return !split_ || r.burst.write == writing_; }
  bool held_by_refresh(const PlainBank& b) const;
  void choose_kind();

  // The first clock at which the table and the buses allow a command.
  Clock row_bus_free() const;
  Clock last(const Rule& rule, const PlainBank& b) const;
  Clock allowed(Kind to, const PlainBank& b) const;
  Clock earliest_row(Kind kind, const PlainBank& b) const;
  Clock earliest_column(Kind kind, const PlainBank& b) const;
  Clock earliest_refresh(const PlainBank& b) const;

  void serve_column(Clock now);
  bool column_offer(std::size_t request, std::vector<bool>& offered) const;
  void serve_row(Clock now);
  bool row_offer(std::size_t request, std::vector<bool>& blocked, Choice& choice) const;
  bool serve_refresh(Clock now);
  bool refresh_all_banks(unsigned pseudo_channel, Clock now);
  bool refresh_one_bank(unsigned pseudo_channel, Clock now);
  void refreshes_fall_due(Clock now);
  Clock interval() const { return per_bank_ ? t_.trefi_pb : t_.trefi; }
  PlainBank bank_of(unsigned pseudo_channel, std::size_t number) const;
  std::size_t banks_of_pseudo_channel() const { return history_.banks() / t_.pseudo_channels; }
  void issue(Kind kind, const PlainBank& b, std::uint32_t row, Clock now);

  HbmConfig config_;
  HbmTimings t_;
  bool split_;
  bool per_bank_;
  Clock act_extra_;  // clocks of an ACT beyond its first
  PlainHistory history_;
  std::vector<Row> rows_;
  std::vector<Request> requests_;   // in order of arrival
  std::vector<Refresh> refreshes_;  // of each pseudo channel
  bool writing_ = false;
  std::vector<hbm::Command> commands_;
  std::vector<hbm::BurstDone> done_;
  hbm::ChannelCounts counts_;
};

}  // namespace npu::model::test
