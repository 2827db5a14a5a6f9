// SPDX-License-Identifier: Apache-2.0
// The adaptive policy against polling and interrupts (requirements.md M5): latency up to 10 us, CPU
// time from 50 us on. Context switches of the fake cost 5 us.
#include "tests/driver/device_fixture.hpp"

namespace npu::driver {
namespace {

struct Measured {
  double latency_us;  // mean, submission to return
  double cpu_us;      // mean CPU time of the waiting task
};

class AdaptiveTest : public testing::TestWithParam<int> {
 protected:
  // `count` commands of the given duration, one at a time, each waited for.
  static Measured run(WaitPolicy policy, Picoseconds duration, int count, Picoseconds jitter = {}) {
    test::FakePlatform fake;
    auto& card = fake.add_card();
    int turn = 0;
    card.behaviour.fetch_latency = Picoseconds();
    card.behaviour.command_latency = [&](const abi::DmaEntry&) {
      return duration + jitter * (turn++ * 7 % 5 - 2) / 2;  // -1, .., +1 times jitter
    };
    auto device = Device::open(fake, card.config().bdf);
    const auto stream = (*device)->create_stream();
    const auto memory = (*device)->allocate(128);
    const auto busy_before = fake.tasks().cpu_usage().busy;
    const auto begin = fake.scheduler.now();
    for (int i = 0; i < count; ++i) {
      const auto command = DmaCommand::device_to_device(memory->address, memory->address + 64, 64);
      EXPECT_THAT((*device)->copy(*stream, command, policy, begin + 10_s), IsOk());
    }
    return {(fake.scheduler.now() - begin).us() / count,
            (fake.tasks().cpu_usage().busy - busy_before).us() / count};
  }
  Picoseconds duration() const { return Picoseconds(std::int64_t{GetParam()} * 1'000'000); }
};

class ShortWaits : public AdaptiveTest {};

TEST_P(ShortWaits, AreWithinFivePercentOfPollingsLatency) {
  const auto polling = run(WaitPolicy::kPolling, duration(), 100);
  const auto adaptive = run(WaitPolicy::kAdaptive, duration(), 100);
  EXPECT_LE(adaptive.latency_us, 1.05 * polling.latency_us);
}

TEST_P(ShortWaits, AreFastInSpiteOfJitter) {
  const auto jitter = duration() / 10;
  const auto polling = run(WaitPolicy::kPolling, duration(), 200, jitter);
  const auto adaptive = run(WaitPolicy::kAdaptive, duration(), 200, jitter);
  EXPECT_LE(adaptive.latency_us, 1.05 * polling.latency_us);
}

INSTANTIATE_TEST_SUITE_P(Microseconds, ShortWaits, testing::Values(1, 2, 5, 8, 10));

class LongWaits : public AdaptiveTest {};

TEST_P(LongWaits, BurnAtMostATenthMoreCpuTimeThanInterrupts) {
  const auto interrupt = run(WaitPolicy::kInterrupt, duration(), 200);
  const auto adaptive = run(WaitPolicy::kAdaptive, duration(), 200);
  EXPECT_LE(adaptive.cpu_us, 1.10 * interrupt.cpu_us);
}

TEST_P(LongWaits, AreAtMostAContextSwitchLaterThanPolling) {
  const auto polling = run(WaitPolicy::kPolling, duration(), 50);
  const auto adaptive = run(WaitPolicy::kAdaptive, duration(), 50);
  EXPECT_LE(adaptive.latency_us, polling.latency_us + 5.5);
}

TEST_P(LongWaits, BurnLittleCpuTimeInSpiteOfJitter) {
  const auto interrupt = run(WaitPolicy::kInterrupt, duration(), 200, duration() / 20);
  const auto adaptive = run(WaitPolicy::kAdaptive, duration(), 200, duration() / 20);
  EXPECT_LE(adaptive.cpu_us, 1.10 * interrupt.cpu_us);
}

INSTANTIATE_TEST_SUITE_P(Microseconds, LongWaits, testing::Values(50, 60, 100, 500, 2000));

class MiddleWaits : public AdaptiveTest {};

// Between: nearly polling's latency for much less than its CPU time.
TEST_P(MiddleWaits, SleepMostOfTheTimeAndSpinTheRest) {
  const auto polling = run(WaitPolicy::kPolling, duration(), 200);
  const auto adaptive = run(WaitPolicy::kAdaptive, duration(), 200);
  EXPECT_LE(adaptive.latency_us, 1.05 * polling.latency_us);
  EXPECT_LE(adaptive.cpu_us, 0.75 * polling.cpu_us);
}

INSTANTIATE_TEST_SUITE_P(Microseconds, MiddleWaits, testing::Values(20, 30, 40));

// A stream that turns slow stops spinning, one that turns fast stops sleeping.
TEST_F(DeviceTest, AdaptiveWaitsFollowAStreamThatChanges) {
  const auto cpu_of = [&](Picoseconds duration, int count) {
    card.behaviour.command_latency = [duration](const abi::DmaEntry&) { return duration; };
    const auto before = fake.tasks().cpu_usage().busy;
    for (int i = 0; i < count; ++i) {
      const auto ticket = submit(64);
      EXPECT_THAT(device->wait(*ticket, WaitPolicy::kAdaptive, in(1_s)), IsOk());
    }
    return (fake.tasks().cpu_usage().busy - before) / count;
  };
  cpu_of(5_us, 50);
  cpu_of(200_us, 50);
  EXPECT_LT(cpu_of(200_us, 10), 6_us);
  cpu_of(5_us, 50);
  const auto begin = fake.scheduler.now();
  cpu_of(5_us, 10);
  EXPECT_LT((fake.scheduler.now() - begin) / 10, 6_us);
}

}  // namespace
}  // namespace npu::driver
