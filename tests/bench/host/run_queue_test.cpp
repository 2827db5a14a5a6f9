// SPDX-License-Identifier: Apache-2.0
// More tasks than cores, and interrupt handlers on the cores that tasks run on.
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kToSleep = 500'000, kToWake = 4'500'000;

model::HostCpuConfig cores(unsigned count, Picoseconds slice = 3_ms) {
  auto config = cpu_config();
  config.cores = count;
  config.time_slice = slice;
  return config;
}

// Tasks that compute for `work` each; when each had done so.
std::vector<std::uint64_t> ends_of(HostBench& bench, unsigned tasks, Picoseconds work) {
  std::vector<std::uint64_t> ends(tasks);
  bench.run([&] {
    std::vector<std::shared_ptr<model::HostTask>> all;
    for (unsigned i = 0; i < tasks; ++i) {
      all.push_back(bench.cpus.spawn("task" + std::to_string(i), [&, i] {
        // In steps: a task looks whether others wait when it synchronises.
        for (int step = 0; step < 100; ++step) {
          bench.cpus.charge(work / 100);
          bench.cpus.synchronise();
        }
        ends[i] = model::sim_now();
      }));
    }
    for (const auto& task : all) bench.cpus.join(*task);
  });
  return ends;
}

TEST(RunQueue, TasksWithACoreEachDoNotWait) {
  HostBench bench(cores(4));
  for (const auto end : ends_of(bench, 3, 100_us)) EXPECT_EQ(end, 100'000'000U);
  EXPECT_EQ(bench.cpus.context_switches(), 1U);  // who joins
}

TEST(RunQueue, OnOneCoreOneRunsBehindTheOther) {
  HostBench bench(cores(1));
  const auto ends = ends_of(bench, 3, 100_us);
  const std::uint64_t begin = kToSleep;  // who joins has gone to sleep
  EXPECT_EQ(ends, (std::vector<std::uint64_t>{begin + 100'000'000, begin + 200'000'000,
                                              begin + 300'000'000}));
}

TEST(RunQueue, ASliceEndsWhenOthersWait) {
  HostBench bench(cores(1, 10_us));
  const auto ends = ends_of(bench, 2, 100_us);
  // In turns: both end near the end, and the switches took their time.
  EXPECT_GT(ends[0], 190'000'000U);
  EXPECT_GE(ends[1], ends[0]);
  EXPECT_GT(bench.cpus.context_switches(), 18U);
  EXPECT_GE(ends[1], 200'000'000U + 18 * kToSleep);
}

TEST(RunQueue, WhoPollsGivesWayToWhomHePollsFor) {
  HostBench bench(cores(1, 10_us));
  std::uint64_t word = 0;
  bool seen = false;
  bench.run([&] {
    auto writer = bench.cpus.spawn("writer", [&] {
      bench.cpus.charge(1_us);
      bench.cpus.synchronise();
      word = 1;
    });
    // A loop that never sleeps, as a driver's.
    while (word == 0) {
      bench.cpus.charge(100_ns);
      bench.cpus.synchronise();
    }
    seen = true;
    bench.cpus.join(*writer);
  });
  EXPECT_TRUE(seen);
}

TEST(RunQueue, AThousandTasksOnTwoCoresAllEnd) {
  HostBench bench(cores(2, 50_us));
  for (const auto end : ends_of(bench, 1000, 10_us)) EXPECT_GT(end, 0U);
}

model::HostCpuConfig with_handlers(Picoseconds interrupt) {
  auto config = cores(1);
  config.interrupt = interrupt;
  return config;
}

// A message at 1 us to the only core, on which a task computes for 10 us; when it had.
std::uint64_t end_beside_interrupts(HostBench& bench, unsigned messages) {
  const auto state = bench.interrupts.open(kRequester, 0);
  for (unsigned i = 0; i < messages; ++i) {
    bench.at(1'000'000 + i, [&bench, state] {
      bench.interrupts.message(kRequester, model::Interrupts::kMessageAddress, state->data, 0);
    });
  }
  std::uint64_t end = 0;
  bench.run([&] {
    bench.cpus.charge(10_us);
    bench.cpus.synchronise();
    end = model::sim_now();
  });
  return end;
}

TEST(InterruptHandlers, DelayTheTaskOfTheirCore) {
  HostBench bench(with_handlers(700_ns));
  EXPECT_EQ(end_beside_interrupts(bench, 3), 10'000'000U + 3 * 700'000);
}

TEST(InterruptHandlers, ThatCostNothingDelayNobody) {
  HostBench bench(with_handlers(0_ns));
  EXPECT_EQ(end_beside_interrupts(bench, 3), 10'000'000U);
}

TEST(InterruptHandlers, WhoSleepsIsWokenAtTheirEnd) {
  HostBench bench(with_handlers(700_ns));
  const auto state = bench.interrupts.open(kRequester, 0);
  bench.at(20'000'000, [&] {
    bench.interrupts.message(kRequester, model::Interrupts::kMessageAddress, state->data, 0);
  });
  bench.run([&] {
    EXPECT_TRUE(bench.cpus.block(
        state->arrived, UINT64_MAX, [&] { return state->count != 0; }, "the test"));
    EXPECT_EQ(model::sim_now(), 20'000'000U + 700'000 + kToWake);
  });
}

}  // namespace
}  // namespace npu::test
