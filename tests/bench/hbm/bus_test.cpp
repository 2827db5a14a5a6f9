// SPDX-License-Identifier: Apache-2.0
// What comes next on the row bus and on the column bus, when writes are drained, and in which order
// commands are reported.
#include <gtest/gtest.h>

#include "model/hbm/address_map.hpp"
#include "model/hbm/column_bus.hpp"
#include "model/hbm/command_reporter.hpp"
#include "model/hbm/row_bus.hpp"
#include "model/hbm/write_drain.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model::hbm {
namespace {

// One closed bank of each group and stack, with a read each, from lane to lane younger.
class HbmBuses : public testing::Test {
 protected:
  HbmBuses() {
    for (const int lane : {a_, b_, other_stack_}) {
      queue_.append({1, 0, static_cast<std::uint16_t>(lane), false}, 0, false);
    }
  }
  std::int16_t age(int lane) const { return queue_.at(queue_.bank(lane).lists[0].head).age; }
  RowHits::Hit hit(int lane, Clock from) const {
    return {from,
            age(lane),
            static_cast<std::uint8_t>(lane),
            static_cast<std::uint8_t>(ColumnBus::block(lane)),
            static_cast<std::uint8_t>(layout_.group_of(lane)),
            false};
  }
  // As after an ACT for its only request.
  void activate(ColumnBus& bus, int lane, Clock at) {
    Bank& bank = queue_.bank(lane);
    const Slot slot = bank.lists[0].head;
    queue_.unlink_first(slot, false);
    queue_.open_row(lane, 1);
    bank.opened = slot;
    timing_.activate(bank.clocks, lane, at);
    bus.activated(lane);
  }
  std::pair<Clock, int> next(RowBus& bus) {
    bus.find(queue_, Traffic::kAny);
    return {bus.next().at, bus.next().lane};
  }

  HbmTimings t_ = test::dramsys_timings();
  ChannelLayout layout_{t_};
  ChannelTiming timing_{t_, layout_};
  const int a_ = lane_number(t_, 0, 0, 0, 0);
  const int b_ = lane_number(t_, 0, 0, 1, 0);
  const int other_stack_ = lane_number(t_, 0, 1, 0, 0);
  RequestQueue queue_{true, 128};
};

TEST_F(HbmBuses, TheRowBusTakesTheEarliestAndOfSeveralTheOldest) {
  RowBus bus(layout_, timing_, false);
  bus.offer_activate(b_, age(b_), 10, 0);
  bus.offer_activate(a_, age(a_), 10, 0);
  bus.offer_activate(other_stack_, age(other_stack_), 9, 0);
  EXPECT_EQ(next(bus), std::pair(Clock{9}, other_stack_));
  bus.withdraw(other_stack_);
  EXPECT_EQ(next(bus), std::pair(Clock{10}, a_));
}

TEST_F(HbmBuses, AnActHoldsTheRowBusForItsClocks) {
  RowBus bus(layout_, timing_, false);
  bus.occupy_by_act(100);
  EXPECT_EQ(bus.free(), 102);
  bus.offer_activate(a_, age(a_), 50, 101);
  EXPECT_EQ(next(bus), std::pair(Clock{102}, a_));
  bus.occupy(102);
  EXPECT_EQ(bus.free(), 103);
}

TEST_F(HbmBuses, ALateActStandsBackForAPreThatComesBeforeItsEnd) {
  queue_.open_row(b_, 2);
  for (const bool late : {false, true}) {
    RowBus bus(layout_, timing_, late);
    bus.offer_activate(a_, age(a_), 10, 0);
    bus.offer_precharge(b_, age(b_), 11, 0);
    // The ACT would end at 11, and is the older one.
    EXPECT_EQ(next(bus), std::pair(Clock{10}, a_)) << late;
    bus.reconsider(0);
    bus.offer_precharge(b_, age(b_), 10, 0);
    EXPECT_EQ(next(bus), std::pair(Clock{10}, late ? b_ : a_)) << late;
  }
}

TEST_F(HbmBuses, TheBankOfAPreOffersAnAct) {
  RowBus bus(layout_, timing_, false);
  bus.offer_precharge(a_, age(a_), 10, 0);
  ASSERT_EQ(next(bus), std::pair(Clock{10}, a_));
  bus.precharged(a_, 10, 23);
  EXPECT_EQ(bus.free(), 11);
  EXPECT_EQ(next(bus), std::pair(Clock{23}, a_));
}

TEST_F(HbmBuses, WhatAnActWasIssuedForComesBeforeOlderHits) {
  ColumnBus bus(layout_, timing_.limits());
  activate(bus, b_, 0);  // from 13 on: tRCD and the second clock of the ACT
  bus.offer_activated(b_, false, 13, 0);
  bus.offer_hit(hit(a_, 13), 0, 0);
  bus.find(queue_, timing_, Traffic::kAny);
  EXPECT_EQ(bus.next().at, 13);
  EXPECT_EQ(bus.next().lane, b_);
  EXPECT_TRUE(bus.any_activated());
}

TEST_F(HbmBuses, ARdKeepsItsDistanceFromThoseOfOtherBanks) {
  ColumnBus bus(layout_, timing_.limits());
  bus.issued_alone(a_, false, 100);
  EXPECT_EQ(bus.free(), 101);
  EXPECT_EQ(bus.from(b_, false, 0), 102);            // tCCD_S
  EXPECT_EQ(bus.from(b_, true, 0), 118);             // tRTW
  EXPECT_EQ(bus.from(other_stack_, false, 0), 102);  // tCCD_R is no longer than tCCD_S here
  EXPECT_EQ(bus.from(b_, false, 110), 110);
}

TEST_F(HbmBuses, StacksKeepTheirOwnDistance) {
  t_.tccd_r = 5;
  ColumnBus bus(layout_, Constraints(t_));
  bus.issued_alone(a_, false, 100);
  EXPECT_EQ(bus.from(b_, false, 0), 102);
  EXPECT_EQ(bus.from(other_stack_, false, 0), 105);
  const int other_pseudo_channel = lane_number(t_, 1, 0, 0, 0);
  EXPECT_LT(bus.from(other_pseudo_channel, false, 0), 100);
}

TEST_F(HbmBuses, AWrKeepsReadsBackUntilItsDataIsWritten) {
  ColumnBus bus(layout_, timing_.limits());
  bus.issued_alone(a_, true, 100);
  EXPECT_EQ(bus.from(b_, false, 0), 100 + 7 + 2 + 4);  // CWL, data, tWTR_S
  EXPECT_EQ(bus.from(b_, true, 0), 102);               // tCCD_S
}

TEST_F(HbmBuses, ReadsAnActWasIssuedForComeAsTheirBanksAllow) {
  ColumnBus bus(layout_, timing_.limits());
  activate(bus, b_, 0);
  activate(bus, a_, 4);
  constexpr auto kReads = Traffic::kReads;
  EXPECT_EQ(bus.earliest_activated(0, queue_, timing_, kReads).lane, b_);
  EXPECT_EQ(bus.earliest_activated(0, queue_, timing_, kReads).at, 13);
  // From 20 on both are allowed: the older request comes first.
  EXPECT_EQ(bus.earliest_activated(20, queue_, timing_, kReads).lane, a_);
  EXPECT_EQ(bus.earliest_activated(20, queue_, timing_, kReads).at, 20);
}

TEST(HbmWriteDrain, BeginsAboveItsHighMarkAndEndsBelowItsLowOne) {
  const HbmConfig config = test::split_config(test::ramulator_timings());  // 80 % and 20 % of 64
  WriteDrain drain(config);
  RequestQueue queue(true, 200);
  queue.append({1, 0, 0, false}, 0, false);
  for (int writes = 1; writes <= 51; ++writes) {
    queue.append({1, 0, 1, true}, 0, true);
    EXPECT_FALSE(drain.changed(queue)) << writes;
  }
  queue.append({1, 0, 1, true}, 0, true);
  EXPECT_TRUE(drain.changed(queue));
  EXPECT_EQ(drain.list(), 1U);
  for (int writes = 51; writes >= 13; --writes) {
    queue.unlink(queue.bank(1).lists[1].head, true);
    EXPECT_FALSE(drain.changed(queue)) << writes;
  }
  queue.unlink(queue.bank(1).lists[1].head, true);
  EXPECT_TRUE(drain.changed(queue));
  EXPECT_EQ(drain.list(), 0U);
}

TEST(HbmWriteDrain, WritesAreServedWhileNoReadWaits) {
  WriteDrain drain(test::split_config(test::ramulator_timings()));
  RequestQueue queue(true, 200);
  EXPECT_FALSE(drain.changed(queue));  // there is nothing
  queue.append({1, 0, 1, true}, 0, true);
  EXPECT_TRUE(drain.changed(queue));
  EXPECT_EQ(drain.list(), 1U);
  queue.append({1, 0, 0, false}, 0, false);
  EXPECT_TRUE(drain.changed(queue));  // one is below the low mark
  EXPECT_EQ(drain.list(), 0U);
}

struct Watcher : CommandObserver {
  void on_command(const Command& command) override { seen.push_back(command); }
  std::vector<Command> seen;
};

TEST(HbmCommandReporter, TellsWhatWasDecidedOutOfOrderInOrder) {
  const HbmTimings t = test::dramsys_timings();
  CommandReporter reporter{ChannelLayout(t)};
  Watcher watcher;
  reporter.watch(&watcher);
  reporter.note();
  const int lane = lane_number(t, 1, 1, 2, 3);
  reporter.report(CommandKind::kActivate, lane, 9, 30);
  reporter.report(CommandKind::kRead, lane, 9, 20);
  EXPECT_TRUE(watcher.seen.empty());
  reporter.tell_noted();
  ASSERT_EQ(watcher.seen.size(), 2U);
  EXPECT_EQ(watcher.seen[0].at, 20);
  EXPECT_EQ(watcher.seen[0].kind, CommandKind::kRead);
  const Command& act = watcher.seen[1];
  EXPECT_EQ(act.at, 30);
  EXPECT_EQ(std::tuple(act.pseudo_channel, act.stack, act.group, act.bank, act.row),
            std::tuple(1, 1, 2, 3, 9U));
  reporter.report(CommandKind::kPrecharge, lane, 0, 40);  // at once, again
  EXPECT_EQ(watcher.seen.size(), 3U);
}

}  // namespace
}  // namespace npu::model::hbm
