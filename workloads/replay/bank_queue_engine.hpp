// SPDX-License-Identifier: Apache-2.0
// A channel's controller as DRAMsim3 has it, for comparisons with that simulator: open page, one
// rank, all-bank refresh. Integer clocks; jumps from decision to decision; no SystemC.
//
// Two stages. Reads and writes wait in a transaction queue each; once per clock the oldest one
// whose bank has room passes into the short queue of that bank. Reads pass until the write queue is
// full, or filled to write_low_percent with no read waiting; all writes then held pass first.
// A bank's queue is searched in order of age: the first command that is legal now is taken, so that
// a younger row hit may overtake. PRE is legal for the oldest of a bank when no row hit waits
// there, or after kRowHits of them. The banks take turns, beginning after the one served last. A
// second command goes out in the same clock if the next one found uses the other command bus.
// A refresh that is due stops all banks; open rows are closed one by one.
// Not modelled: the forwarding of queued writes to reads of the same address.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "model/hbm/channel_engine.hpp"
#include "workloads/replay/replay_config.hpp"

namespace npu::replay {

using model::hbm::Burst;
using model::hbm::BurstDone;
using model::hbm::CommandKind;
using model::hbm::CommandObserver;

class BankQueueEngine {
 public:
  static constexpr unsigned kRowHits = 4;

  // Served bursts are appended to `done`. can_replay(config) holds.
  BankQueueEngine(const ReplayConfig& config, std::vector<BurstDone>& done);

  std::uint16_t lane(unsigned group, unsigned bank) const {
    return static_cast<std::uint16_t>(group * t_.banks_per_group + bank);
  }
  // Whether a burst of this kind can be accepted in the clock after the last one decided.
  bool room(bool write) const {
    return transactions_[write ? 1 : 0].size() < limit_[write ? 1 : 0];
  }
  // At most one per clock, after advance(at - 1). RD or WR is issued at + 1 or later.
  void accept(const Burst& burst, Clock at);
  void advance(Clock until);
  // No command is issued and no transaction passes on before it.
  Clock next_decision() const { return std::min(next_, due_); }
  // No read waits. Writes, which were acknowledged, may stay for good, too few to be drained.
  bool idle() const { return reads_ == 0; }
  Clock read_latency() const { return t_.cl + t_.tdqsck + t_.burst_clocks; }
  void watch(CommandObserver* observer) { observer_ = observer; }

 private:
  struct Bank {
    std::vector<Burst> queue;
    bool open = false;
    std::uint32_t row = 0;
    unsigned hits = 0;  // since the row was opened
    Clock act = 0, pre = 0, read = 0, write = 0, refresh = 0;
  };
  struct Choice {
    CommandKind kind;
    std::size_t bank;
    std::size_t entry;
  };

  void decide(Clock at);
  bool refresh(Clock at);
  bool issue_next(Clock at, const CommandKind* first, CommandKind& issued);
  bool choose(Clock at, Choice& choice);
  bool choose_in(std::size_t bank, Clock at, Choice& choice);
  bool may_precharge(const Bank& bank, std::size_t entry) const;
  void pass(Clock at);
  void issue(const Choice& choice, Clock at);
  void activate(std::size_t bank, std::uint32_t row, Clock at);
  void precharge(std::size_t bank, Clock at);
  void column(std::size_t bank, bool write, Clock at);
  void report(CommandKind kind, std::size_t bank, std::uint32_t row, Clock at);
  void later(Clock at) { next_ = std::min(next_, at); }

  HbmTimings t_;
  std::array<std::size_t, 2> limit_;
  std::size_t write_batch_;  // writes that are drained when no read waits
  std::size_t bank_queue_;
  std::vector<Bank> banks_;
  std::array<std::vector<Burst>, 2> transactions_;
  std::size_t draining_ = 0;  // writes still to pass on before reads go on
  std::size_t turn_ = 0;      // the bank that was served last
  std::array<Clock, 4> acts_;
  std::size_t oldest_act_ = 0;
  bool refreshing_ = false;
  Clock due_;
  Clock next_ = kNever;
  std::size_t reads_ = 0;  // accepted and not yet issued
  std::vector<BurstDone>& done_;
  CommandObserver* observer_ = nullptr;
};

}  // namespace npu::replay
