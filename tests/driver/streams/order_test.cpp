// SPDX-License-Identifier: Apache-2.0
// In what order streams run, and what they wait for.
#include "tests/driver/streams/stream_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

TEST_F(StreamTest, WorkForBothKindsOfCoresRunsInItsOrder) {
  const auto stream = open();
  hold(*stream);
  mark_by_fill(*stream, 1);
  ASSERT_THAT(stream->launch(kernel(LaunchCores::kCube, 1)), IsOk());
  ASSERT_THAT(stream->launch(kernel(LaunchCores::kVector, 2)), IsOk());
  mark_by_fill(*stream, 2);
  pass(1_ms);
  EXPECT_EQ(fills(), std::vector<Bytes>{});
  release();
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  std::vector<unsigned> order;
  for (const auto& executed : cp.executed()) {
    const auto opcode = static_cast<abi::QueueOpcode>(executed.entry.opcode);
    if (opcode == abi::QueueOpcode::kFill || opcode == abi::QueueOpcode::kLaunchAiCore) {
      order.push_back(executed.entry.opcode);
    }
  }
  const auto fill = static_cast<unsigned>(abi::QueueOpcode::kFill);
  const auto launch = static_cast<unsigned>(abi::QueueOpcode::kLaunchAiCore);
  EXPECT_EQ(order, (std::vector<unsigned>{fill, launch, launch, fill}));
}

TEST_F(StreamTest, AWaitIsForTheRecordThatWasThereWhateverIsRecordedLater) {
  const auto slow = open(), idle = open(), waits = open();
  hold(*slow);
  const auto first = must(record(*slow));
  ASSERT_THAT(waits->wait_for(first), IsOk());
  mark_by_fill(*waits, 7);
  ASSERT_THAT(record(*idle), IsOk());  // of the same event, as a program sees it
  pass(1_ms);
  EXPECT_EQ(fills(), std::vector<Bytes>{});
  EXPECT_FALSE(first.mark().is_done());
  release();
  ASSERT_THAT(waits->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(fills(), std::vector<Bytes>{7});
  EXPECT_TRUE(first.mark().is_done());
}

TEST_F(StreamTest, WhoWaitsForARecordOfAStreamThatIsGivenUpGoesOn) {
  auto given_up = open();
  const auto waits = open();
  hold(*given_up);
  const auto never = must(record(*given_up));
  ASSERT_THAT(waits->wait_for(never), IsOk());
  mark_by_fill(*waits, 3);
  given_up->close(fake.scheduler.now());
  given_up.reset();
  EXPECT_THAT(waits->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(fills(), std::vector<Bytes>{3});
  EXPECT_TRUE(never.mark().is_done());
}

// The signal of a stream that is gone is not another's while somebody may still wait for it.
TEST_F(StreamTest, ASignalIsItsStreamsUntilTheLastWaitHasEnded) {
  auto recorded = open();
  const auto waits = open();
  hold(*waits);
  {
    const auto done = record(*recorded);
    ASSERT_THAT(recorded->synchronize(in(1_ms)), IsOk());
    ASSERT_THAT(waits->wait_for(*done), IsOk());
  }
  recorded.reset();
  const auto in_use = process->signals().in_use();
  const auto other = open();
  for (int i = 0; i < 20; ++i) ASSERT_THAT(record(*other), IsOk());
  EXPECT_EQ(process->signals().in_use(), in_use + 1) << "a new one for the new stream";
  release();
  EXPECT_THAT(waits->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(process->signals().in_use(), in_use) << "the old one went with its last wait";
}

TEST_F(StreamTest, AnEmptyRecordIsNotWaitedFor) {
  const auto stream = open();
  EXPECT_THAT(stream->wait_for(StreamRecord()), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(StreamTest, LastIsTheEndOfEverythingSoFar) {
  const auto stream = open();
  EXPECT_TRUE(stream->last().is_done());
  hold(*stream);
  const auto mark = stream->last();
  EXPECT_FALSE(mark.is_done());
  EXPECT_THAT(mark.wait(in(1_ms)), FailsWith(ErrorCode::kTimeout));
  release();
  EXPECT_THAT(mark.wait(in(10_ms)), IsOk());
  EXPECT_TRUE(mark.is_done());
}

TEST_F(StreamTest, AQueryIsOneLook) {
  const auto stream = open();
  hold(*stream);
  const auto in_flight = must(stream->query());
  EXPECT_FALSE(in_flight.done);
  release();
  pass(1_ms);
  const auto over = must(stream->query());
  EXPECT_TRUE(over.done);
  EXPECT_FALSE(over.fault);
}

}  // namespace
}  // namespace npu::driver
