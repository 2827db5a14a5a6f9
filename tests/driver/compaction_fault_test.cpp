// SPDX-License-Identifier: Apache-2.0
// Compactions that end half way: what the card may still use is nobody's, and nothing is lost.
#include "tests/driver/small_card_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class CompactionFaultTest : public SmallCardTest {
 protected:
  // Lets the copies of the next compaction get stuck in the card.
  void compact_with_stuck_copies(Bytes wanted) {
    fake.scheduler.at(in(1_us), [&] { card->behaviour.completion_paused = true; });
    EXPECT_THAT(device->compact(wanted), FailsWith(ErrorCode::kTimeout));
    card->behaviour.completion_paused = false;
  }
  // How many of these there are until none is left.
  unsigned streams_left() {
    std::vector<StreamId> all;
    for (auto one = device->create_stream(); one; one = device->create_stream()) {
      all.push_back(*one);
    }
    for (const auto one : all) EXPECT_THAT(device->destroy_stream(one, in(1_ms)), IsOk());
    return static_cast<unsigned>(all.size());
  }
  unsigned events_left() {
    std::vector<EventId> all;
    for (auto one = device->create_event(); one; one = device->create_event()) all.push_back(*one);
    for (const auto one : all) EXPECT_THAT(device->destroy_event(one), IsOk());
    return static_cast<unsigned>(all.size());
  }
};

// --- translations that the card does not drop

TEST_F(CompactionFaultTest, WhileTranslationsMayBeStaleNobodyElseGetsTheirPlaces) {
  lay_out(".A.B.C.");
  card->behaviour.invalidate_stuck = true;
  EXPECT_THAT(device->compact(4_MiB), FailsWith(ErrorCode::kTimeout, "not dropped"));
  EXPECT_EQ(device->memory_statistics().quarantined, 2_MiB);
  expect_sum();
  fill_free_memory();
  for (const char letter : {'A', 'B', 'C'}) expect_intact(letter, 1);
}

TEST_F(CompactionFaultTest, WritesThroughStaleTranslationsAreNotLost) {
  lay_out(".A.B.C.");
  card->behaviour.invalidate_stuck = true;
  EXPECT_FALSE(device->compact(4_MiB).has_value());
  for (const char letter : {'A', 'B', 'C'}) put(blocks[letter], 1000U + std::uint64_t(letter));
  card->mmu().invalidate_all();
  for (const char letter : {'A', 'B', 'C'}) {
    EXPECT_EQ(get(blocks[letter]), 1000U + std::uint64_t(letter)) << letter;
  }
}

// A makes room by moving to pages 4 and 5: page 3 is first A's, then C's.
TEST_F(CompactionFaultTest, APlaceIsNotTakenAgainBeforeItsTranslationsAreDropped) {
  lay_out(".CAA..");
  card->behaviour.invalidate_stuck = true;
  EXPECT_THAT(device->compact(6_MiB), FailsWith(ErrorCode::kTimeout));
  expect_intact('A', 2);
  expect_intact('C', 1);
  expect_sum();
}

TEST_F(CompactionFaultTest, MovesThatDependOnEachOtherWork) {
  lay_out(".CAA..");
  const auto report = must(device->compact(6_MiB));
  EXPECT_TRUE(report.success);
  EXPECT_EQ(report.moved, 6_MiB);
  EXPECT_EQ(device->memory_statistics().largest_free_block, 6_MiB);
  EXPECT_EQ(
      report.plan + report.quiesce + report.copy + report.remap + report.invalidate + report.resume,
      report.pause);
  fill_free_memory();
  expect_intact('A', 2);
  expect_intact('C', 1);
}

TEST_F(CompactionFaultTest, WhatWasMovedBeforeAFaultStaysThere) {
  lay_out(".CAA..");
  card->behaviour.failing_copy = 2;
  EXPECT_THAT(device->compact(6_MiB), FailsWith(ErrorCode::kDeviceFault));
  EXPECT_EQ(device->compaction_statistics().last.moved, 4_MiB);
  EXPECT_EQ(device->memory_statistics().free, 6_MiB);
  fill_free_memory();
  expect_intact('A', 2);
  expect_intact('C', 1);
}

TEST_F(CompactionFaultTest, QuarantineEndsWhenTheTranslationsAreDropped) {
  lay_out(".A.B.C.");
  const auto before = device->memory_statistics();
  card->behaviour.invalidate_stuck = true;
  EXPECT_FALSE(device->compact(4_MiB).has_value());
  EXPECT_EQ(device->memory_statistics().used(), before.used());
  EXPECT_EQ(device->memory_statistics().allocations, before.allocations);
  unstick_invalidation();
  ASSERT_THAT(device->compact(4_MiB), IsOk());
  EXPECT_EQ(device->memory_statistics().quarantined, 0U);
  EXPECT_EQ(device->memory_statistics().free, before.free);
  fill_free_memory();
  for (const char letter : {'A', 'B', 'C'}) expect_intact(letter, 1);
}

TEST_F(CompactionFaultTest, AnAllocationThatNeedsQuarantinedMemoryTriesToGetIt) {
  lay_out(".A.B.C.");
  card->behaviour.invalidate_stuck = true;
  EXPECT_FALSE(device->allocate(8_MiB).has_value());
  unstick_invalidation();
  EXPECT_THAT(device->allocate(8_MiB), IsOk());
  EXPECT_EQ(device->memory_statistics().free, 0U);
}

// --- copies that do not end

TEST_F(CompactionFaultTest, WhereACopyMayStillWriteNobodyElseIs) {
  lay_out(".A.B.C.");
  compact_with_stuck_copies(4_MiB);
  EXPECT_EQ(device->memory_statistics().quarantined, 2_MiB);
  expect_sum();
  fill_free_memory();
  EXPECT_EQ(device->memory_statistics().quarantined, 2_MiB);
}

// Between the two pieces of a block that has slid half its way, or before it.
TEST_F(CompactionFaultTest, WhereACopyOfASlideMayStillWriteNobodyIs) {
  lay_out("..AAAAA.BBBBBBB.");
  compact_with_stuck_copies(8_MiB);
  EXPECT_EQ(device->memory_statistics().quarantined, 4_MiB);
  expect_sum();
  fill_free_memory();
  expect_intact('A', 5);
  expect_intact('B', 7);
}

// The plan is made while the old copy is still running; it ends before the new ones begin.
TEST_F(CompactionFaultTest, ThePlanLeavesQuarantinedPlacesAlone) {
  lay_out(".A.B.C.");
  compact_with_stuck_copies(4_MiB);
  fake.scheduler.at(in(100_us), [&] { card->complete_next(1); });
  const auto report = must(device->compact(4_MiB));
  EXPECT_TRUE(report.success);
  EXPECT_EQ(device->memory_statistics().quarantined, 0U);  // its lane could be closed, too
  fill_free_memory();
  for (const char letter : {'A', 'B', 'C'}) expect_intact(letter, 1);
}

TEST_F(CompactionFaultTest, StreamsAndEventsOfStuckCopiesComeBackWhenTheseEnd) {
  lay_out(".A.B.C.");
  const auto streams = streams_left();
  const auto events = events_left();
  compact_with_stuck_copies(4_MiB);
  EXPECT_EQ(streams_left(), streams - 1);  // one lane had something to do
  EXPECT_EQ(events_left(), events - 1);
  card->complete_next(1);
  ASSERT_THAT(device->compact(4_MiB), IsOk());
  EXPECT_EQ(streams_left(), streams);
  EXPECT_EQ(events_left(), events);
  EXPECT_EQ(device->memory_statistics().quarantined, 0U);
}

TEST_F(CompactionFaultTest, StreamsOfStuckCopiesAreNobodyElses) {
  lay_out(".A.B.C.");
  compact_with_stuck_copies(4_MiB);
  const StreamId lane{1};
  const auto everywhere = DmaCommand::device_to_device({0}, {2_MiB}, 8);
  EXPECT_THAT(device->submit(lane, everywhere), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(device->stream_event(lane), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(device->destroy_stream(lane, in(1_ms)), FailsWith(ErrorCode::kNotFound));
}

TEST_F(CompactionFaultTest, AStreamIsNotGivenAwayWhileItsCopiesAreInTheRing) {
  lay_out(".A.B.C.");
  const auto streams = streams_left();
  fake.scheduler.at(in(1_us), [&] { card->behaviour.fetch_paused = true; });
  EXPECT_THAT(device->compact(4_MiB), FailsWith(ErrorCode::kTimeout));
  EXPECT_EQ(streams_left(), streams - 1);
  EXPECT_EQ(device->memory_statistics().quarantined, 2_MiB);
  card->resume_fetch();
  fake.scheduler.advance(100_us);
  EXPECT_FALSE(device->take_fault()->has_value());
  ASSERT_THAT(device->compact(4_MiB), IsOk());
  EXPECT_EQ(streams_left(), streams);
}

TEST_F(CompactionFaultTest, AResetOfTheQueueGivesStuckCopiesUp) {
  lay_out(".A.B.C.");
  const auto streams = streams_left();
  const auto events = events_left();
  fake.scheduler.at(in(1_us), [&] { card->behaviour.fetch_paused = true; });
  EXPECT_THAT(device->compact(4_MiB), FailsWith(ErrorCode::kTimeout));
  ASSERT_THAT(device->reset_queue(), IsOk());
  card->resume_fetch();
  ASSERT_THAT(device->compact(4_MiB), IsOk());
  EXPECT_EQ(streams_left(), streams);
  EXPECT_EQ(events_left(), events);
  EXPECT_EQ(device->memory_statistics().quarantined, 0U);
}

}  // namespace
}  // namespace npu::driver
