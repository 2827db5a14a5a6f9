// SPDX-License-Identifier: Apache-2.0
// Waiting: no wake-up is lost (requirements.md M5), nothing hangs, errors are told.
#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class WaitTest : public DeviceTest {
 protected:
  // One command that ends only when the test says so.
  Ticket pending() {
    card.behaviour.completion_paused = true;
    const auto ticket = submit();
    EXPECT_THAT(ticket, IsOk());
    fake.scheduler.advance(1_us);  // fetched
    return *ticket;
  }
  Picoseconds timed_wait(const Ticket& ticket, WaitPolicy policy) {
    const auto begin = fake.scheduler.now();
    EXPECT_THAT(device->wait(ticket, policy, in(100_ms)), IsOk());
    return fake.scheduler.now() - begin;
  }
  // The next time the driver takes a vector's count the pending command completes just before, and
  // its interrupt's handler has run when the count is returned.
  void complete_before_count() {
    fake.before_vector_count = [this] {
      if (std::exchange(completed_before_count, true)) return;
      card.complete_next(stream.value);
      fake.scheduler.advance(1_ns);
    };
  }
  bool completed_before_count = false;
};

TEST_F(WaitTest, PollingSeesTheEventWithinOneRound) {
  const auto ticket = pending();
  fake.scheduler.at(in(7_us), [&] { card.complete_next(stream.value); });
  const auto waited = timed_wait(ticket, WaitPolicy::kPolling);
  EXPECT_GE(waited, 7_us);
  EXPECT_LE(waited, 7_us + 2 * fake.costs.poll_round);
}

TEST_F(WaitTest, AnInterruptWakesTheSleeper) {
  const auto ticket = pending();
  fake.scheduler.at(in(200_us), [&] { card.complete_next(stream.value); });
  const auto waited = timed_wait(ticket, WaitPolicy::kInterrupt);
  EXPECT_EQ(waited, 200_us + card.behaviour.interrupt_latency + 5_us);
  EXPECT_EQ(device->wait_statistics().slept, 1U);
}

// The completion comes after the first look at the record and before the vector's count is taken:
// its interrupt is already counted, so only a second look prevents the sleep.
TEST_F(WaitTest, CompletionBetweenCheckAndSleepIsNotLost) {
  card.behaviour.interrupt_latency = Picoseconds();
  const auto ticket = pending();
  complete_before_count();
  EXPECT_LT(timed_wait(ticket, WaitPolicy::kInterrupt), 1_us);
  EXPECT_TRUE(completed_before_count);
}

// The same for an adaptive wait that has learned to sleep at once.
TEST_F(WaitTest, CompletionBetweenCheckAndSleepIsNotLostOnAnAdaptiveWait) {
  card.behaviour.interrupt_latency = Picoseconds();
  card.behaviour.command_latency = [](const abi::DmaEntry&) { return 100_us; };
  for (int i = 0; i < 4; ++i) timed_wait(*submit(), WaitPolicy::kAdaptive);
  const auto ticket = pending();
  complete_before_count();
  EXPECT_LT(timed_wait(ticket, WaitPolicy::kAdaptive), 1_us);
  EXPECT_TRUE(completed_before_count);
}

// The completion comes after the count was taken: the interrupt itself ends the wait.
TEST_F(WaitTest, CompletionAfterTheCountWakesAtOnce) {
  card.behaviour.interrupt_latency = Picoseconds();
  const auto ticket = pending();
  bool first = true;
  fake.on_vector_count = [&] {
    if (std::exchange(first, false)) card.complete_next(stream.value);
  };
  EXPECT_LT(timed_wait(ticket, WaitPolicy::kInterrupt), 20_us);
}

TEST_F(WaitTest, AMaskedVectorsPendingInterruptWakesOnUnmask) {
  const auto ticket = pending();
  card.mask(0);
  fake.scheduler.at(in(10_us), [&] { card.complete_next(stream.value); });
  fake.scheduler.at(in(300_us), [&] { card.unmask(0); });
  const auto waited = timed_wait(ticket, WaitPolicy::kInterrupt);
  EXPECT_GE(waited, 300_us);
  EXPECT_LE(waited, 310_us);
}

// Two completions, one interrupt: both waiters must see theirs.
TEST_F(WaitTest, ACoalescedInterruptServesEveryWaiter) {
  const auto first = pending();
  const auto second = must(submit());
  card.mask(0);
  fake.scheduler.at(in(10_us), [&] { card.complete_next(stream.value); });
  fake.scheduler.at(in(11_us), [&] { card.complete_next(stream.value); });
  fake.scheduler.at(in(20_us), [&] { card.unmask(0); });
  auto task = fake.tasks().spawn(
      "first", [&] { EXPECT_LT(timed_wait(first, WaitPolicy::kInterrupt), 40_us); });
  EXPECT_LT(timed_wait(second, WaitPolicy::kInterrupt), 40_us);
  (*task)->join();
  EXPECT_EQ(card.vector(0).count, 1U);
}

TEST_F(WaitTest, ALostInterruptCostsTimeOnly) {
  card.behaviour.interrupts_lost = true;
  const auto ticket = pending();
  fake.scheduler.at(in(100_us), [&] { card.complete_next(stream.value); });
  EXPECT_LT(timed_wait(ticket, WaitPolicy::kInterrupt), 1100_us);
  EXPECT_EQ(device->wait_statistics().missed_interrupts, 1U);
}

TEST_F(WaitTest, AnInterruptOnTheWrongVectorCostsTimeOnly) {
  card.behaviour.vector_offset = 1;
  const auto ticket = pending();
  fake.scheduler.at(in(100_us), [&] { card.complete_next(stream.value); });
  EXPECT_LT(timed_wait(ticket, WaitPolicy::kInterrupt), 1100_us);
}

TEST_F(WaitTest, SpuriousInterruptsDoNotEndAWait) {
  const auto ticket = pending();
  for (const auto at : {10_us, 20_us, 30_us}) fake.scheduler.at(in(at), [&] { card.raise(0); });
  fake.scheduler.at(in(100_us), [&] { card.complete_next(stream.value); });
  EXPECT_GE(timed_wait(ticket, WaitPolicy::kInterrupt), 100_us);
}

TEST_F(WaitTest, ALostEventRecordIsReadFromTheCard) {
  card.behaviour.records_lost = true;
  const auto ticket = pending();
  fake.scheduler.at(in(100_us), [&] { card.complete_next(stream.value); });
  EXPECT_LT(timed_wait(ticket, WaitPolicy::kPolling), 1100_us);
}

TEST_F(WaitTest, TheDeadlineHoldsForEveryPolicy) {
  const auto ticket = pending();
  for (const auto policy : {WaitPolicy::kPolling, WaitPolicy::kInterrupt, WaitPolicy::kAdaptive}) {
    const auto deadline = in(3_ms);
    EXPECT_THAT(device->wait(ticket, policy, deadline),
                FailsWith(ErrorCode::kTimeout, "stream 0, command 0"));
    EXPECT_GE(fake.scheduler.now(), deadline);
    EXPECT_LE(fake.scheduler.now(), deadline + 20_us);
  }
  card.complete_next(stream.value);
  EXPECT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
}

TEST_F(WaitTest, ADoneTicketIsDoneAtOnceEvenBehindTheDeadline) {
  const auto ticket = submit();
  fake.scheduler.advance(20_us);
  EXPECT_THAT(device->wait(*ticket, WaitPolicy::kInterrupt, Instant()), IsOk());
  EXPECT_TRUE(*device->is_done(*ticket));
}

TEST_F(WaitTest, AFailedCommandTellsItsFault) {
  const auto ticket =
      must(device->submit(stream, DmaCommand::host_to_device({0x1000}, memory, 64)));
  EXPECT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kDeviceFault, "host address not mapped"));
  const auto fault = device->take_fault();
  ASSERT_TRUE(fault && *fault);
  EXPECT_EQ((*fault)->code, abi::FaultCode::kHostAddress);
  EXPECT_EQ((*fault)->address, 0x1000U);
  EXPECT_FALSE(device->take_fault()->has_value());
}

TEST_F(WaitTest, ResettingTheQueueForgetsFaultsAndGoesOn) {
  const auto bad = device->submit(stream, DmaCommand::host_to_device({0x1000}, memory, 64));
  EXPECT_FALSE(device->wait(*bad, WaitPolicy::kPolling, in(1_ms)).has_value());
  ASSERT_THAT(device->reset_queue(), IsOk());
  const auto good = must(submit());
  EXPECT_EQ(good.position, 0U);
  EXPECT_THAT(device->wait(good, WaitPolicy::kPolling, in(1_ms)), IsOk());
}

TEST_F(WaitTest, AHaltedQueueEndsTheWaitBeforeALongDeadline) {
  card.behaviour.fetch_paused = true;
  const auto ticket = submit();
  card.halt();
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(device->wait(*ticket, WaitPolicy::kInterrupt, in(10_s)),
              FailsWith(ErrorCode::kDeviceFault, "halted"));
  EXPECT_LT(fake.scheduler.now() - begin, 2_ms);
}

TEST_F(WaitTest, SleepingWithoutAnInterruptIsRefused) {
  SubmitOptions quiet;
  quiet.interrupt = false;
  card.behaviour.completion_paused = true;
  const auto ticket = must(submit(64, quiet));
  EXPECT_THAT(device->wait(ticket, WaitPolicy::kInterrupt, in(1_ms)),
              FailsWith(ErrorCode::kUnsupported));
}

TEST_F(WaitTest, TracesTheWaitWithTheCauseOfItsCommand) {
  const auto ticket = pending();
  fake.tracer().listen(true);
  fake.scheduler.at(in(7_us), [&] { card.complete_next(stream.value); });
  timed_wait(ticket, WaitPolicy::kPolling);
  ASSERT_EQ(fake.tracer().events.size(), 1U);
  const auto& event = fake.tracer().events[0];
  EXPECT_EQ(event.activity, platform::Activity::kEventWait);
  EXPECT_EQ(event.cause, platform::dma_cause(0, ticket.position));
  EXPECT_GE(event.end - event.begin, 7_us);
}

}  // namespace
}  // namespace npu::driver
