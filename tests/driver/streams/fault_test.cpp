// SPDX-License-Identifier: Apache-2.0
// Entries at fault, closing, and what lives until work has ended.
#include "tests/driver/streams/stream_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class StreamFaultTest : public StreamTest {
 protected:
  void fail(ExecutionStream& stream) {
    const auto wrong = entries::fill(kNowhere, 64, 0);
    ASSERT_THAT(stream.submit(&wrong, 1), IsOk());
  }
  std::unique_ptr<platform::Task> task(std::function<void()> body) {
    return std::move(*fake.tasks().spawn("other", std::move(body)));
  }
};

TEST_F(StreamFaultTest, ContinueOnErrorRunsWhatIsBehindAndTellsTheFirstFaultOnce) {
  const auto stream = open();
  fail(*stream);
  mark_by_fill(*stream, 5);
  const auto ended = must(stream->synchronize(in(10_ms)));
  ASSERT_TRUE(ended);
  ASSERT_TRUE(ended->fault);
  EXPECT_EQ(ended->fault->address, kNowhere.value);
  EXPECT_NE(ended->text.find("0x123400000000"), std::string::npos) << ended->text;
  EXPECT_EQ(fills().back(), 5U);
  const auto again = must(stream->synchronize(in(10_ms)));
  EXPECT_FALSE(again);
}

TEST_F(StreamFaultTest, StopOnErrorDropsWhatIsBehindAndTakesNewWorkThen) {
  const auto stream = open(StreamErrorMode::kStop);
  hold(*stream);
  fail(*stream);
  mark_by_fill(*stream, 5);
  release();
  const auto ended = must(stream->synchronize(in(10_ms)));
  ASSERT_TRUE(ended);
  mark_by_fill(*stream, 6);
  const auto after = must(stream->synchronize(in(10_ms)));
  EXPECT_FALSE(after);
  const auto seen = fills();
  EXPECT_EQ(seen.back(), 6U);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 5U), 0);
}

// Work for the other cores waits for what has failed, and would wait for ever.
TEST_F(StreamFaultTest, AFaultIsToldThoughTheOtherCoresWaitForIt) {
  for (const auto first : {LaunchCores::kVector, LaunchCores::kCube}) {
    const auto second = first == LaunchCores::kCube ? LaunchCores::kVector : LaunchCores::kCube;
    const auto stream = open(StreamErrorMode::kStop);
    ASSERT_THAT(stream->launch(kernel(first, 1)), IsOk());
    fail(*stream);
    ASSERT_THAT(stream->launch(kernel(second, 2)), IsOk());
    pass(1_ms);
    const auto looked = must(stream->query());
    EXPECT_TRUE(looked.fault);
    ASSERT_THAT(stream->launch(kernel(first, 1)), IsOk());
    fail(*stream);
    ASSERT_THAT(stream->launch(kernel(second, 2)), IsOk());
    const auto ended = must(stream->synchronize(in(1_s)));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->cores, first);
  }
}

TEST_F(StreamFaultTest, ACallOnAClosedStreamSaysSo) {
  const auto stream = open();
  stream->close(fake.scheduler.now());
  const auto nop = entries::nop();
  EXPECT_THAT(stream->submit(&nop, 1), FailsWith(ErrorCode::kAborted));
  EXPECT_THAT(stream->launch(kernel(LaunchCores::kVector, 0)), FailsWith(ErrorCode::kAborted));
  EXPECT_THAT(record(*stream), FailsWith(ErrorCode::kAborted));
  EXPECT_THAT(stream->synchronize(in(1_ms)), FailsWith(ErrorCode::kAborted));
  EXPECT_THAT(stream->query(), FailsWith(ErrorCode::kAborted));
  EXPECT_TRUE(stream->last().is_done());
}

TEST_F(StreamFaultTest, WhoWaitsForRoomInAStreamThatIsClosedComesBack) {
  const auto stream = open();
  hold(*stream);
  Status submitted;
  const auto other = task([&] {
    const auto nop = entries::nop();
    for (int i = 0; i < 1000 && submitted; ++i) {
      auto mark = stream->submit(&nop, 1);
      if (!mark) submitted = forward_error(mark);
    }
  });
  pass(5_ms);
  const Instant before = fake.scheduler.now();
  stream->close(before);
  other->join();
  EXPECT_THAT(submitted, FailsWith(ErrorCode::kAborted));
  EXPECT_LE(fake.scheduler.now(), before + 3_ms);
}

TEST_F(StreamFaultTest, WhatWorkNeedsLivesUntilItHasEnded) {
  const auto stream = open();
  hold(*stream);
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = kept;
  const auto nop = entries::nop();
  ASSERT_THAT(stream->submit(&nop, 1, std::move(kept)), IsOk());
  pass(1_ms);
  EXPECT_FALSE(seen.expired());
  release();
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_TRUE(seen.expired());
}

TEST_F(StreamFaultTest, AModuleIsFreedBehindItsLastLaunch) {
  const auto stream = open();
  const auto before = device->memory_statistics().free;
  hold(*stream);
  ASSERT_THAT(stream->launch(kernel(LaunchCores::kVector, 1)), IsOk());
  const auto arguments = kPageSize;  // of the pool, which stay
  EXPECT_EQ(device->memory_statistics().free, before - kPageSize - arguments);
  release();
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(device->memory_statistics().free, before - arguments);
}

}  // namespace
}  // namespace npu::driver
