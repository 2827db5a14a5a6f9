// SPDX-License-Identifier: Apache-2.0
// ChannelEngine against PlainController: the same commands and the same served bursts, to the
// clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/plain_traffic.hpp"

namespace npu::model {
namespace {

using hbm::Clock;
using hbm::Command;
using hbm::CommandKind;
using test::PlainArrival;
using test::PlainTraffic;

const char* name_of(CommandKind kind) {
  constexpr const char* kNames[] = {"ACT", "PRE", "PREab", "RD", "WR", "REF", "REFpb"};
  return kNames[static_cast<std::size_t>(kind)];
}

// A command as text, so that a difference reads well; `position` sorts it.
std::string text_of(const Command& c) {
  const bool all = c.kind == CommandKind::kPrechargeAll || c.kind == CommandKind::kRefresh;
  const bool row = c.kind != CommandKind::kPrecharge && c.kind != CommandKind::kRefreshBank;
  std::string text =
      std::to_string(c.at) + " " + name_of(c.kind) + " pc" + std::to_string(c.pseudo_channel);
  if (all) return text;
  text += " bank " + std::to_string(c.stack) + "." + std::to_string(c.group) + "." +
          std::to_string(c.bank);
  return row ? text + " row " + std::to_string(c.row) : text;
}

bool of_a_burst(CommandKind kind) {
  return kind == CommandKind::kActivate || kind == CommandKind::kRead ||
         kind == CommandKind::kWrite;
}

struct Outcome {
  std::vector<Command> commands;
  std::vector<hbm::BurstDone> done;
  hbm::ChannelCounts counts;
  unsigned early = 0;  // bursts served before the bound that was given for them
};

Outcome run_plain(const HbmConfig& config, const std::vector<PlainArrival>& traffic, Clock end) {
  test::PlainController controller(config);
  std::size_t next = 0;
  for (Clock now = 0; now <= end || !controller.idle() || next < traffic.size(); ++now) {
    controller.tick(now);
    if (next == traffic.size() || traffic[next].from > now) continue;
    if (controller.room(traffic[next].burst.write)) controller.accept(traffic[next++].burst);
  }
  return {controller.commands(), controller.done(), controller.counts(), 0};
}

class Engine : public hbm::CommandObserver {
 public:
  Engine(const HbmConfig& config, bool short_cuts) : engine_(config, outcome_.done) {
    engine_.take_short_cuts(short_cuts);
    engine_.watch(this);
  }
  void on_command(const Command& command) override { outcome_.commands.push_back(command); }

  Outcome run(const std::vector<PlainArrival>& traffic, Clock end) {
    for (const auto& arrival : traffic) enter(arrival);
    while (!engine_.idle()) engine_.step();
    engine_.advance(end);
    outcome_.counts = engine_.counts();
    return std::move(outcome_);
  }

 private:
  void enter(const PlainArrival& arrival) {
    const auto& [bank, row, tag, write] = arrival.burst;
    Clock at = std::max(arrival.from, port_free_);
    if (tag % 7 == 0) engine_.advance(std::max(port_free_, at - 1));
    engine_.advance(at);
    while (!engine_.room(write)) {
      at = engine_.next_decision();
      engine_.step();
    }
    check_bound();
    const auto lane = engine_.lane(bank.pseudo_channel, bank.stack, bank.group, bank.bank);
    engine_.accept({row, tag, lane, write}, at);
    port_free_ = at + 1;
    served_ = outcome_.done.size();
    bound_ = engine_.earliest_service();
  }
  // What was served since the last arrival came no earlier than announced then.
  void check_bound() {
    if (served_ < outcome_.done.size() && outcome_.done[served_].issued < bound_) ++outcome_.early;
  }

  Outcome outcome_;
  hbm::ChannelEngine engine_;
  Clock port_free_ = 0;  // it takes one burst per clock
  std::size_t served_ = 0;
  Clock bound_ = 0;
};

std::vector<std::string> texts_of(std::vector<Command> commands, bool all) {
  if (!all) {
    commands.erase(std::remove_if(commands.begin(), commands.end(),
                                  [](const Command& c) { return !of_a_burst(c.kind); }),
                   commands.end());
  }
  // Commands of one clock come in any order.
  std::stable_sort(commands.begin(), commands.end(), [](const Command& a, const Command& b) {
    return std::tie(a.at, a.kind) < std::tie(b.at, b.kind);
  });
  std::vector<std::string> texts;
  for (const auto& command : commands) texts.push_back(text_of(command));
  return texts;
}

// Three lines before the first difference, and what either side says then.
std::string difference(const std::vector<std::string>& engine,
                       const std::vector<std::string>& plain) {
  std::size_t i = 0;
  while (i < std::min(engine.size(), plain.size()) && engine[i] == plain[i]) ++i;
  if (i == engine.size() && i == plain.size()) return {};
  std::string text;
  for (std::size_t k = i < 12 ? 0 : i - 12; k < i; ++k) text += "  both   " + plain[k] + "\n";
  for (std::size_t k = i; k < i + 4; ++k) {
    text += "  engine " + (k < engine.size() ? engine[k] : "ends") + "   plain " +
            (k < plain.size() ? plain[k] : "ends") + "\n";
  }
  return text;
}

std::vector<std::string> bursts_of(const Outcome& outcome) {
  std::vector<std::string> texts;
  for (const auto& d : outcome.done) {
    texts.push_back(std::to_string(d.issued) + " burst " + std::to_string(d.tag) +
                    (d.write ? " written" : " read"));
  }
  return texts;
}

auto as_tuple(const hbm::ChannelCounts& c) {
  return std::make_tuple(c.reads, c.writes, c.row_hits, c.activates, c.precharges, c.refreshes);
}

void expect_equal(const HbmConfig& config, const std::vector<PlainArrival>& traffic) {
  const Clock end = traffic.back().from + 10'000;
  const Outcome plain = run_plain(config, traffic, end);
  const Clock last = std::max(end, plain.done.back().issued);
  for (const bool short_cuts : {false, true}) {
    SCOPED_TRACE(short_cuts ? "with short cuts" : "without short cuts");
    const Outcome engine = Engine(config, short_cuts).run(traffic, last);
    // PRE and REF of an idle channel may be skipped by a short cut.
    ASSERT_EQ(
        difference(texts_of(engine.commands, !short_cuts), texts_of(plain.commands, !short_cuts)),
        "");
    ASSERT_EQ(difference(bursts_of(engine), bursts_of(plain)), "");
    ASSERT_EQ(as_tuple(engine.counts), as_tuple(plain.counts));
    ASSERT_EQ(engine.early, 0U);
  }
}

struct Case {
  const char* name;
  HbmConfig config;
};

std::ostream& operator<<(std::ostream& out, const Case& a_case) {
  return out << a_case.name;
}

HbmTimings with_bank_refresh(HbmTimings t) {
  t.trfc_pb = 160, t.trefi_pb = 122, t.trrefd = 8;
  return t;
}

HbmConfig with_queues(HbmConfig config, unsigned entries) {
  config.read_queue = entries;
  if (config.policy == HbmPolicy::kSplitQueues) config.write_queue = entries;
  return config;
}

std::vector<Case> cases() {
  using namespace test;
  return {
      {"ramulator_split", split_config(ramulator_timings())},
      {"ramulator_shared", shared_config(ramulator_timings())},
      {"dramsys_split", split_config(dramsys_timings())},
      {"dramsys_shared", shared_config(dramsys_timings())},
      {"dramsim3_split", split_config(dramsim3_timings())},
      {"dramsim3_shared", shared_config(dramsim3_timings())},
      {"hbm2e_split", split_config(hbm2e_2400_timings())},
      {"hbm2e_shared", shared_config(hbm2e_2400_timings())},
      {"ramulator_bank_refresh_split", split_config(with_bank_refresh(ramulator_timings()))},
      {"dramsys_bank_refresh_shared", shared_config(with_bank_refresh(dramsys_timings()))},
      {"dramsim3_bank_refresh_split", split_config(with_bank_refresh(dramsim3_timings()))},
      {"dramsim3_bank_refresh_shared", shared_config(with_bank_refresh(dramsim3_timings()))},
      {"card", card_config()},
      {"tiny_split", with_queues(split_config(ramulator_timings()), 3)},
      {"tiny_shared", with_queues(shared_config(dramsys_timings()), 2)},
  };
}

class HbmPlain : public testing::TestWithParam<Case> {
 protected:
  void expect_equal_on(PlainTraffic::Kind kind, unsigned bursts) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const HbmConfig& config = GetParam().config;
      expect_equal(config, PlainTraffic(config.timings, seed).make(kind, bursts));
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(HbmPlain, dense_random_bursts_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kDense, 6'000);
}

TEST_P(HbmPlain, sparse_random_bursts_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kSparse, 8'000);
}

TEST_P(HbmPlain, sequential_bursts_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kSequential, 10'000);
}

TEST_P(HbmPlain, streams_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kStreams, 6'000);
}

TEST_P(HbmPlain, mixed_kinds_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kMixed, 6'000);
}

TEST_P(HbmPlain, bursts_after_idle_times_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kAfterIdle, 6'000);
}

TEST_P(HbmPlain, runs_to_an_idle_channel_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kRuns, 10'000);
}

TEST_P(HbmPlain, bursts_of_one_bank_are_served_alike) {
  expect_equal_on(PlainTraffic::Kind::kOneBank, 4'000);
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Configs, HbmPlain, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace npu::model
