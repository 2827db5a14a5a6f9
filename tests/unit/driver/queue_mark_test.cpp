// SPDX-License-Identifier: Apache-2.0
#include "driver/dma/queue_mark.hpp"

#include <gtest/gtest.h>

#include "driver/stream/stream_table.hpp"

namespace npu::driver {
namespace {

constexpr std::uint64_t kLastPosition = (std::uint64_t{1} << 48) - 1;

TEST(QueueMark, KeepsRunAndPositionApartUpToTheirLargestValues) {
  const QueueMark mark(0xFFFF, kLastPosition);
  EXPECT_EQ(mark.epoch(), 0xFFFFU);
  EXPECT_EQ(mark.position(), kLastPosition);
  EXPECT_EQ(QueueMark::from_raw(mark.raw()).position(), kLastPosition);
}

TEST(QueueMark, IsBehindTheTicketsCommand) {
  Ticket ticket;
  ticket.epoch = 3;
  ticket.position = 4095;
  EXPECT_EQ(QueueMark::behind(ticket).raw(), QueueMark(3, 4096).raw());
}

TEST(QueueMark, RunsCountFromOneAndNeverComeToZero) {
  EXPECT_EQ(QueueMark().next_epoch(), 1U);
  EXPECT_EQ(QueueMark(1, 7).next_epoch(), 2U);
  EXPECT_EQ(QueueMark(0xFFFF, 7).next_epoch(), 1U);
}

TEST(QueueMark, ALaterRunFollowsWhateverItsPosition) {
  EXPECT_TRUE(QueueMark(1, 5).precedes({1, 6}));
  EXPECT_FALSE(QueueMark(1, 6).precedes({1, 6}));
  EXPECT_TRUE(QueueMark(1, 5).precedes({2, 0}));
  EXPECT_FALSE(QueueMark(2, 0).precedes({1, 5}));
  EXPECT_TRUE(QueueMark(0xFFFF, 5).precedes({1, 0}));
  EXPECT_FALSE(QueueMark(1, 0).precedes({0xFFFF, 5}));
  EXPECT_TRUE(QueueMark().precedes({0xFFFF, 0}));
}

TEST(StreamSubmissions, NotedInAnyOrderTheLastOneCounts) {
  Stream stream;
  stream.note_submitted({1, 7});
  stream.note_submitted({1, 6});
  EXPECT_EQ(stream.submitted.load(), QueueMark(1, 7).raw());
  stream.note_submitted({2, 1});
  stream.note_submitted({1, 8});
  EXPECT_EQ(stream.submitted.load(), QueueMark(2, 1).raw());
}

}  // namespace
}  // namespace npu::driver
