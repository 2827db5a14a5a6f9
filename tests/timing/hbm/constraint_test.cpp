// SPDX-License-Identifier: Apache-2.0
// Every constraint of the table is kept (legal at n) and no more than kept (a table that asks for
// one clock more is broken by the same commands, so n - 1 would have been illegal).
#include <gmock/gmock.h>

#include <random>

#include "model/config/key_table.hpp"
#include "model/hbm/channel_engine.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/support/folders.hpp"
#include "tests/timing/hbm/command_checker.hpp"
#include "workloads/replay/bank_queue_engine.hpp"
#include "workloads/replay/replay_config.hpp"

namespace npu::model {
namespace {

using hbm::ChannelEngine;
using hbm::Clock;
using test::CommandChecker;

// Random reads and writes over few rows: hits, misses, turnarounds, all groups and stacks. The
// traffic pauses now and then, as a full queue would hide limits that only matter to the first.
void run_traffic(const HbmConfig& config, hbm::CommandObserver& observer, unsigned bursts) {
  std::vector<hbm::BurstDone> done;
  ChannelEngine engine(config, done);
  engine.watch(&observer);
  std::mt19937 random(7);
  const HbmTimings& t = config.timings;
  Clock at = 0;
  for (unsigned i = 0; i < bursts; ++i) {
    const auto r = static_cast<std::uint32_t>(random());
    const bool write = (i / 40) % 3 == 0 ? (r & 1) != 0 : (i / 40) % 3 == 1;
    at += i % 97 == 0 ? 150 : 1 + (r >> 1) % ((i / 500) % 2 == 0 ? 2 : 12);
    engine.advance(at);
    while (!engine.room(write)) {
      at = engine.next_decision();
      engine.step();
    }
    const unsigned bank = (i / 300) % 2 == 0 ? (r >> 8) % t.banks_per_group : 0;
    engine.accept({(r >> 12) % 3, i,
                   engine.lane((r >> 14) % t.pseudo_channels, (r >> 15) % t.stacks,
                               (r >> 16) % t.bank_groups, bank),
                   write},
                  at);
  }
  while (!engine.idle()) engine.step();
  EXPECT_EQ(done.size(), bursts);
}

std::map<std::string, unsigned> broken_rules(const HbmConfig& config, const HbmTimings& table) {
  CommandChecker checker(table);
  run_traffic(config, checker, 20000);
  return checker.broken();
}

struct Constraint {
  const char* rule;
  unsigned HbmTimings::*field;
  unsigned value;  // large enough to be what holds a command back
};

std::ostream& operator<<(std::ostream& out, const Constraint& constraint) {
  return out << constraint.rule;
}

class HbmConstraint : public testing::TestWithParam<Constraint> {};

HbmTimings table_with(const Constraint& constraint) {
  HbmTimings table = test::dramsys_timings();
  if (constraint.rule == std::string("tRFCpb") || constraint.rule == std::string("tRREFD")) {
    table.trfc_pb = 160, table.trefi_pb = 122, table.trrefd = 8;
  }
  table.*constraint.field = constraint.value;
  return table;
}

TEST_P(HbmConstraint, IsMetExactlyWithSplitQueues) {
  const HbmTimings table = table_with(GetParam());
  HbmTimings stricter = table;
  stricter.*GetParam().field += 1;

  EXPECT_THAT(broken_rules(test::split_config(table), table), testing::IsEmpty());
  EXPECT_EQ(broken_rules(test::split_config(table), stricter).count(GetParam().rule), 1U);
}

TEST_P(HbmConstraint, IsMetExactlyWithASharedQueue) {
  const HbmTimings table = table_with(GetParam());
  HbmTimings stricter = table;
  stricter.*GetParam().field += 1;

  EXPECT_THAT(broken_rules(test::shared_config(table), table), testing::IsEmpty());
  EXPECT_EQ(broken_rules(test::shared_config(table), stricter).count(GetParam().rule), 1U);
}

std::vector<Constraint> constraints() {
  std::vector<Constraint> all;
  for (const auto& rule : test::kRules) {
    if (rule.held != 0) all.push_back({rule.name, rule.clocks, rule.held});
  }
  return all;
}

std::string rule_name(const testing::TestParamInfo<Constraint>& info) {
  return info.param.rule;
}

INSTANTIATE_TEST_SUITE_P(Rules, HbmConstraint, testing::ValuesIn(constraints()), rule_name);

TEST(HbmCommands, ActOfOneClockLeavesTheRowBusEarlier) {
  HbmTimings one = test::dramsys_timings();
  one.act_clocks = 1;

  EXPECT_THAT(broken_rules(test::split_config(one), one), testing::IsEmpty());
  HbmTimings two = one;
  two.act_clocks = 2;
  EXPECT_EQ(broken_rules(test::split_config(one), two).count("row bus"), 1U);
  EXPECT_THAT(broken_rules(test::shared_config(one), one), testing::IsEmpty());
  EXPECT_EQ(broken_rules(test::shared_config(one), two).count("row bus"), 1U);
}

TEST(HbmCommands, ALongRandomRunBreaksNoRule) {
  for (const auto& config :
       {test::split_config(test::ramulator_timings()), test::shared_config(test::dramsys_timings()),
        test::split_config(test::dramsim3_timings()),
        test::split_config(test::hbm2e_2400_timings())}) {
    CommandChecker checker(config.timings);
    run_traffic(config, checker, 400000);
    EXPECT_THAT(checker.broken(), testing::IsEmpty()) << config.timings.name;
    EXPECT_GT(checker.commands(), 500000U);
  }
}

// The tests' tables are typed in by hand and the shipped ones are read: they must not drift apart.
TEST(HbmTables, OfTheTestsAreThoseThatAreShipped) {
  const std::pair<const char*, HbmTimings> tables[] = {
      {"hbm2_ramulator", test::ramulator_timings()},
      {"hbm2_dramsys", test::dramsys_timings()},
      {"hbm2_dramsim3", test::dramsim3_timings()},
      {"hbm2e_2400", test::hbm2e_2400_timings()}};
  for (const auto& [name, typed] : tables) {
    const auto shipped = replay::load_timings(source_dir() + "/configs/hbm/" + name + ".yaml", {});
    ASSERT_TRUE(shipped) << shipped.error().message();
    for (const auto& key : timings_table().keys) {
      if (key.name == "name") continue;
      EXPECT_EQ(key.load(&*shipped).number, key.load(&typed).number) << name << " " << key.name;
    }
  }
}

// Every shipped table, and the limits of an ACT or RD in flight, at a long random run.
TEST(HbmCommands, ShippedTablesAreKeptByBothPolicies) {
  for (const auto* name : {"hbm2_ramulator", "hbm2_dramsys", "hbm2_dramsim3", "hbm2e_2400",
                           "hbm2e_3200", "hbm3_5200"}) {
    const auto table = replay::load_timings(source_dir() + "/configs/hbm/" + name + ".yaml", {});
    ASSERT_TRUE(table) << table.error().message();
    EXPECT_THAT(broken_rules(test::split_config(*table), *table), testing::IsEmpty()) << name;
    EXPECT_THAT(broken_rules(test::shared_config(*table), *table), testing::IsEmpty()) << name;
  }
}

// The controller with queues per bank on the same random traffic.
std::map<std::string, unsigned> broken_by_bank_queues(const HbmTimings& issued,
                                                      const HbmTimings& watched) {
  std::vector<hbm::BurstDone> done;
  replay::ReplayConfig config{"", replay::ReplayPolicy::kBankQueues, 8, test::split_config(issued)};
  replay::BankQueueEngine engine(config, done);
  CommandChecker checker(watched);
  engine.watch(&checker);
  std::mt19937 random(7);
  Clock at = 0;
  for (unsigned i = 0; i < 20000; ++i) {
    const auto r = static_cast<std::uint32_t>(random());
    const bool write = (i / 40) % 3 == 1;
    at += i % 97 == 0 ? 150 : 1 + (r >> 1) % ((i / 500) % 2 == 0 ? 2 : 12);
    engine.advance(at - 1);
    while (!engine.room(write)) {
      at = engine.next_decision() + 1;
      engine.advance(at - 1);
    }
    const unsigned bank = (i / 300) % 2 == 0 ? (r >> 8) % 4 : 0;
    engine.accept({(r >> 12) % 3, i, engine.lane((r >> 16) % 4, bank), write}, at);
  }
  return checker.broken();
}

class BankQueueConstraint : public testing::TestWithParam<Constraint> {};

TEST_P(BankQueueConstraint, IsMetExactly) {
  HbmTimings table = test::dramsim3_timings();
  table.*GetParam().field = GetParam().value;
  HbmTimings stricter = table;
  stricter.*GetParam().field += 1;

  EXPECT_THAT(broken_by_bank_queues(table, table), testing::IsEmpty());
  EXPECT_EQ(broken_by_bank_queues(table, stricter).count(GetParam().rule), 1U);
}

const Constraint kBankQueueConstraints[] = {
    {"tRCD_RD", &HbmTimings::trcd_rd, 14}, {"tRCD_WR", &HbmTimings::trcd_wr, 14},
    {"tRP", &HbmTimings::trp, 14},         {"tRAS", &HbmTimings::tras, 60},
    {"tRC", &HbmTimings::trc, 90},         {"tCCD_S", &HbmTimings::tccd_s, 2},
    {"tCCD_L", &HbmTimings::tccd_l, 6},    {"tRRD_S", &HbmTimings::trrd_s, 5},
    {"tRRD_L", &HbmTimings::trrd_l, 9},    {"tFAW", &HbmTimings::tfaw, 40},
    {"tWR", &HbmTimings::twr, 14},         {"tWTR_S", &HbmTimings::twtr_s, 4},
    {"tWTR_L", &HbmTimings::twtr_l, 12},   {"tRTP", &HbmTimings::trtp, 30},
    {"tRTW", &HbmTimings::trtw, 18},       {"tRFC", &HbmTimings::trfc, 260},
};

INSTANTIATE_TEST_SUITE_P(Rules, BankQueueConstraint, testing::ValuesIn(kBankQueueConstraints),
                         rule_name);

struct RefreshCount : hbm::CommandObserver {
  void on_command(const hbm::Command& command) override {
    using hbm::CommandKind;
    last = command.at;
    const bool all = command.kind == CommandKind::kRefresh;
    if (all || command.kind == CommandKind::kRefreshBank) ++refreshes;
  }
  Clock refreshes = 0, last = 0;
};

TEST(HbmCommands, RefreshesKeepTheirAverageInterval) {
  HbmTimings per_bank = test::dramsys_timings();
  per_bank.trfc_pb = 160, per_bank.trefi_pb = 122, per_bank.trrefd = 8;
  for (const auto& config :
       {test::split_config(test::ramulator_timings()), test::shared_config(test::dramsys_timings()),
        test::split_config(per_bank), test::shared_config(per_bank)}) {
    RefreshCount count;
    run_traffic(config, count, 100000);

    const HbmTimings& t = config.timings;
    const Clock due = count.last / (t.trfc_pb != 0 ? t.trefi_pb : t.trefi) * t.pseudo_channels;
    // The last one of each pseudo channel may be staggered or still in flight.
    EXPECT_NEAR(static_cast<double>(count.refreshes), static_cast<double>(due), 2);
    EXPECT_GT(due, 100);
  }
}

}  // namespace
}  // namespace npu::model
