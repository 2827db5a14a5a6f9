// SPDX-License-Identifier: Apache-2.0
// What the detector of races makes of what calls and cards tell, without programs and cards.
#include <gtest/gtest.h>

#include "apps/exec/races/detector.hpp"

namespace npu::exec::races {
namespace {

using npu::races::Access;
using npu::races::AccessMap;
using npu::races::Clock;

constexpr std::uint64_t kMemory = 0x1000;
constexpr Bytes kSize = 0x1000;

class Races : public testing::Test {
 protected:
  Races() {
    detector_.set_translation([](std::uint32_t, std::uint32_t, std::uint64_t begin, Bytes size) {
      return std::vector<Piece>{{false, true, begin, begin, size}};
    });
    detector_.memory().add(0, 1, kMemory, kSize);
    for (const std::uint32_t queue : {0U, 1U}) detector_.created(0, queue, at(0));
  }

  static Instant at(std::int64_t when) { return Instant(Picoseconds(when)); }
  // The program calls from a place of its own.
  CallSite call() {
    const auto place = detector_.sites().place("p0", 0, compat::Call::kMemset, {++calls_});
    return {place, static_cast<std::uint32_t>(calls_)};
  }
  // A call submits the entry.
  void submit(std::uint32_t queue, std::uint64_t index, std::int64_t when = 1) {
    const auto submission = detector_.begin(call(), queue);
    detector_.made(submission, {0, queue, index, at(when)});
    detector_.end(submission);
  }
  Work work(std::uint32_t queue, std::uint64_t index, bool write) const {
    Work work;
    work.queue = queue;
    work.index = index;
    work.space = 1;
    work.pieces = {{false, write, kMemory, kMemory, kSize}};
    return work;
  }
  // The card has done it.
  void run(std::uint32_t queue, std::uint64_t index, bool write, std::int64_t when = 2) {
    detector_.ended(work(queue, index, write), at(when));
  }
  void signal(std::uint32_t queue, std::uint64_t index, Work::Kind kind, std::uint64_t value) {
    Work entry = work(queue, index, false);
    entry.pieces.clear();
    entry.kind = kind;
    entry.signal = 7;
    entry.value = value;
    detector_.ended(entry, at(2));
  }
  std::size_t found() const { return detector_.races().count(); }

  Detector detector_{{}};
  std::uint64_t calls_ = 0;
};

TEST_F(Races, TwoQueuesThatNothingOrdersRace) {
  submit(0, 0);
  submit(1, 0);
  run(0, 0, true);
  run(1, 0, false);
  EXPECT_EQ(found(), 1U);
}

TEST_F(Races, ReadsAloneDoNot) {
  submit(0, 0);
  submit(1, 0);
  run(0, 0, false);
  run(1, 0, false);
  EXPECT_EQ(found(), 0U);
}

TEST_F(Races, ASignalOrdersWhatIsBeforeItsRecordAndNothingElse) {
  for (const std::uint64_t index : {0U, 2U}) submit(0, index);
  submit(1, 1);
  run(0, 0, true);
  signal(0, 1, Work::Kind::kRecord, 5);
  signal(1, 0, Work::Kind::kWait, 5);
  run(1, 1, false);
  EXPECT_EQ(found(), 0U);
  run(0, 2, true);
  EXPECT_EQ(found(), 1U);
}

TEST_F(Races, AWaitLearnsOfTheFirstRecordThatMeetsIt) {
  for (const std::uint64_t index : {0U, 2U}) submit(0, index);
  submit(1, 1);
  signal(0, 1, Work::Kind::kRecord, 5);
  run(0, 2, true);
  signal(0, 3, Work::Kind::kRecord, 6);
  signal(1, 0, Work::Kind::kWait, 5);
  run(1, 1, false);
  EXPECT_EQ(found(), 1U);
}

TEST_F(Races, WhatTheHostHasWaitedForIsBeforeWhatItSubmits) {
  submit(0, 0);
  run(0, 0, true);
  detector_.known({0, 0, 0, at(1)});
  submit(1, 0);
  run(1, 0, true);
  EXPECT_EQ(found(), 0U);
}

TEST_F(Races, AnEntryThatEndsBeforeItsCallKnowsItsIndexIsTheCalls) {
  const auto submission = detector_.begin(call(), 0);
  run(0, 0, true);
  detector_.made(submission, {0, 0, 0, at(1)});
  detector_.end(submission);
  submit(1, 0);
  run(1, 0, false);
  EXPECT_EQ(found(), 1U);
}

TEST_F(Races, AQueueWithAnEarlierOnesNumberIsAnother) {
  submit(0, 0);  // given up
  detector_.created(0, 0, at(10));
  submit(1, 0, 11);
  submit(0, 0, 11);
  run(1, 0, true, 12);
  run(0, 0, false, 12);
  EXPECT_EQ(found(), 1U);
}

TEST_F(Races, AFreeUnderWorkIsToldOnceAndNotOfTheNextOwner) {
  submit(0, 0);
  detector_.freed(call(), 0, 1, kMemory, kSize);
  run(0, 0, true);
  EXPECT_EQ(found(), 1U);
  submit(1, 0);
  run(1, 0, true);
  EXPECT_EQ(found(), 1U);
}

TEST_F(Races, MemoryOfTheDriversOwnIsNotLookedAt) {
  detector_.memory().remove(0, 1, kMemory);
  submit(0, 0);
  submit(1, 0);
  run(0, 0, true);
  run(1, 0, true);
  EXPECT_EQ(found(), 0U);
}

TEST_F(Races, OnlyBytesThatBothAccessAreToldOf) {
  AccessMap map;
  struct Count final : AccessMap::Listener {
    bool unordered(const Access&, const Access&, std::uint64_t first,
                   std::uint64_t bytes) override {
      pieces.emplace_back(first, bytes);
      return false;
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
  } listener;
  Clock one(1), two(2);
  map.add(10, 20, {one.happens(), 1, 0, AccessKind::kWrite}, one, listener);
  map.add(15, 25, {two.happens(), 2, 0, AccessKind::kRead}, two, listener);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> part{{15, 5}};
  EXPECT_EQ(listener.pieces, part);
  EXPECT_EQ(map.cells(), 3U);
}

}  // namespace
}  // namespace npu::exec::races
