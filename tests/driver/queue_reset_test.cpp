// SPDX-License-Identifier: Apache-2.0
// Resetting the queue while others submit, wait and destroy streams.
#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class QueueResetTest : public DeviceTest {
 protected:
  bool enabled() {
    const auto status = card.read(0, abi::DmaQueueStatus::kOffset, 4);
    return (status & abi::DmaQueueStatus::Enabled::kMask) != 0;
  }
  // Computes until the card's queue is `on`.
  void until_enabled(bool on) {
    ASSERT_TRUE(fake.scheduler.poll_until(in(1_s), [&] { return enabled() == on; }));
  }
  std::unique_ptr<platform::Task> reset_later(Picoseconds time) {
    return std::move(*fake.tasks().spawn("reset", [this, time] {
      fake.scheduler.advance(time);
      EXPECT_THAT(device->reset_queue(), IsOk());
    }));
  }
  void run_commands(int count) {
    Ticket last;
    for (int i = 0; i < count; ++i) last = *submit(static_cast<Bytes>(i) + 1);
    ASSERT_THAT(device->wait(last, WaitPolicy::kPolling, in(1_s)), IsOk());
  }
  void expect_works() {
    const auto ticket = must(submit());
    EXPECT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_s)), IsOk());
  }
};

// --- submissions meanwhile

TEST_F(QueueResetTest, ASubmissionRightAfterTheEnablingRepeatsNoOldCommand) {
  run_commands(5);
  auto reset = reset_later(1_us);
  until_enabled(false);
  until_enabled(true);
  const auto ticket = must(submit(1000));
  EXPECT_EQ(ticket.position, 0U);
  EXPECT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_s)), IsOk());
  reset->join();
  fake.scheduler.advance(1_ms);
  ASSERT_EQ(card.executed().size(), 6U);
  EXPECT_EQ(card.executed().back().size(), 1000U);
}

TEST_F(QueueResetTest, ASubmissionToTheDisabledQueueWaitsAndIsNotLost) {
  card.behaviour.completion_paused = true;
  ASSERT_THAT(submit(1), IsOk());
  auto reset = reset_later(2_us);
  until_enabled(false);
  fake.scheduler.at(in(50_us), [&] {
    card.behaviour.completion_paused = false;
    card.complete_next(stream.value);
  });
  const auto ticket = submit(1000);
  reset->join();
  ASSERT_THAT(ticket, IsOk());
  EXPECT_THAT(device->wait(*ticket, WaitPolicy::kPolling, in(1_s)), IsOk());
  EXPECT_EQ(card.executed().back().size(), 1000U);
}

TEST_F(QueueResetTest, AfterAResetThatFailedSubmissionsAreRefusedUntilOneSucceeds) {
  DeviceOptions options;
  options.ready_timeout = 1_ms;
  open(options);
  card.behaviour.completion_paused = true;
  ASSERT_THAT(submit(), IsOk());
  fake.scheduler.advance(1_us);
  EXPECT_THAT(device->reset_queue(), FailsWith(ErrorCode::kTimeout, "to become idle"));
  EXPECT_THAT(submit(), FailsWith(ErrorCode::kAborted, "reset"));
  card.behaviour.completion_paused = false;
  card.complete_next(stream.value);
  ASSERT_THAT(device->reset_queue(), IsOk());
  expect_works();
}

TEST_F(QueueResetTest, ShuttingDownMeanwhileLeavesTheQueueOff) {
  card.behaviour.completion_paused = true;
  ASSERT_THAT(submit(), IsOk());
  auto reset = fake.tasks().spawn("reset", [&] {
    fake.scheduler.advance(1_us);
    static_cast<void>(device->reset_queue());
  });
  until_enabled(false);
  fake.scheduler.at(in(50_us), [&] { card.complete_next(stream.value); });
  static_cast<void>(device->shutdown());
  (*reset)->join();
  EXPECT_FALSE(enabled());
}

// --- tickets from before

TEST_F(QueueResetTest, AnOldTicketDoesNotMakeTheEmptyRingLookFull) {
  DeviceOptions options;
  options.submit_timeout = 100_us;
  open(options);
  Ticket old;
  for (int i = 0; i < 100; ++i) old = *submit();
  fake.scheduler.advance(1_ms);
  ASSERT_THAT(device->reset_queue(), IsOk());
  EXPECT_THAT(device->wait(old, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kAborted, "reset"));
  EXPECT_THAT(device->is_done(old), FailsWith(ErrorCode::kAborted, "reset"));
  expect_works();
}

TEST_F(QueueResetTest, AnOldTicketIsNotDoneByWhatANewCommandCounts) {
  card.behaviour.fetch_paused = true;
  const auto old = submit();
  ASSERT_THAT(device->reset_queue(), IsOk());
  card.behaviour.fetch_paused = false;
  expect_works();  // counts the event to the old ticket's target
  EXPECT_THAT(device->wait(*old, WaitPolicy::kInterrupt, in(1_ms)), FailsWith(ErrorCode::kAborted));
}

class WaitDuringReset : public QueueResetTest, public testing::WithParamInterface<WaitPolicy> {};

TEST_P(WaitDuringReset, EndsAsAbortedSoon) {
  card.behaviour.fetch_paused = true;
  const auto ticket = submit();
  auto reset = reset_later(200_us);
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(device->wait(*ticket, GetParam(), in(10_s)), FailsWith(ErrorCode::kAborted));
  EXPECT_LT(fake.scheduler.now() - begin, 2_ms);
  reset->join();
}

INSTANTIATE_TEST_SUITE_P(Policies, WaitDuringReset,
                         testing::Values(WaitPolicy::kPolling, WaitPolicy::kInterrupt,
                                         WaitPolicy::kAdaptive));

TEST_F(QueueResetTest, AStreamWhoseCommandsAreGivenUpMeanwhileCanBeDestroyed) {
  card.behaviour.fetch_paused = true;
  for (int i = 0; i < 10; ++i) ASSERT_THAT(submit(), IsOk());
  auto reset = reset_later(200_us);
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(device->destroy_stream(stream, in(1_s)), IsOk());
  EXPECT_LT(fake.scheduler.now() - begin, 1_ms);
  reset->join();
}

}  // namespace
}  // namespace npu::driver
