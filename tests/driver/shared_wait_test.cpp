// SPDX-License-Identifier: Apache-2.0
// The adaptive policy where many streams queue for the same link (requirements.md M5). Context
// switches of the fake cost 5 us.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "tests/driver/device_fixture.hpp"

namespace npu::driver {
namespace {

// Streams that share one server, a command at a time, as they share a link: who waits asleep
// submits later, and then the others' commands are served sooner.
class SharedLink : public testing::TestWithParam<int> {
 protected:
  struct Measured {
    double latency_us = 0;  // mean, submission to return
    double cpu_us = 0;      // mean CPU time of the waiting task
  };
  static constexpr int kStreams = 8;

  // Every stream's wait takes about `round` once all of them queue.
  static Measured run(WaitPolicy policy, Picoseconds round) {
    test::FakePlatform fake;
    auto& card = fake.add_card();
    Instant free_at;
    int turn = 0;
    card.behaviour.fetch_latency = Picoseconds();
    card.behaviour.command_latency = [&](const abi::DmaEntry&) {
      const auto service = round / kStreams * (8 + turn++ * 7 % 5 - 2) / 8;  // 3/4 .. 5/4
      free_at = std::max(free_at, fake.scheduler.now()) + service;
      return free_at - fake.scheduler.now();
    };
    auto device = Device::open(fake, card.config().bdf);
    const auto memory = (*device)->allocate(128);
    std::array<Measured, kStreams> each{};
    std::vector<std::unique_ptr<platform::Task>> tasks;
    for (int i = 0; i < kStreams; ++i) {
      const auto stream = (*device)->create_stream();
      tasks.push_back(*fake.tasks().spawn("waiter", [&, i, id = *stream] {
        each[static_cast<std::size_t>(i)] = measure(fake, **device, id, memory->address, policy);
      }));
    }
    for (auto& task : tasks) task->join();
    Measured mean{};
    for (const auto& one : each) {
      mean.latency_us += one.latency_us / kStreams;
      mean.cpu_us += one.cpu_us / kStreams;
    }
    return mean;
  }
  Picoseconds round() const { return Picoseconds(std::int64_t{GetParam()} * 1'000'000); }

 private:
  static Measured measure(test::FakePlatform& fake, Device& device, StreamId stream,
                          DeviceAddress memory, WaitPolicy policy) {
    constexpr int kWarmUp = 8, kCount = 40;
    Instant begin;
    Picoseconds busy_before;
    for (int i = 0; i < kWarmUp + kCount; ++i) {
      if (i == kWarmUp) {
        begin = fake.scheduler.now();
        busy_before = fake.tasks().cpu_usage().busy;
      }
      const auto command = DmaCommand::device_to_device(memory, memory + 64, 64);
      EXPECT_THAT(device.copy(stream, command, policy, begin + 10_s), IsOk());
    }
    return {(fake.scheduler.now() - begin).us() / kCount,
            (fake.tasks().cpu_usage().busy - busy_before).us() / kCount};
  }
};

TEST_P(SharedLink, KeepsToTheCheaperSideOfEveryWait) {
  const auto polling = run(WaitPolicy::kPolling, round());
  const auto interrupt = run(WaitPolicy::kInterrupt, round());
  const auto adaptive = run(WaitPolicy::kAdaptive, round());
  if (GetParam() <= 10) {
    EXPECT_LE(adaptive.latency_us, 1.05 * polling.latency_us);
  } else {
    EXPECT_LE(adaptive.latency_us, 1.02 * std::max(polling.latency_us, interrupt.latency_us));
    EXPECT_LE(adaptive.cpu_us, 0.75 * polling.cpu_us);
  }
  if (GetParam() >= 50) {
    EXPECT_LE(adaptive.cpu_us, 1.1 * interrupt.cpu_us);
  }
}

INSTANTIATE_TEST_SUITE_P(Microseconds, SharedLink,
                         testing::Values(5, 8, 10, 20, 30, 40, 50, 52, 55, 60, 100));

}  // namespace
}  // namespace npu::driver
