// SPDX-License-Identifier: Apache-2.0
// Slots, run list, quantum, priority, preemption.
#include <algorithm>

#include "command_bench.hpp"

namespace npu::test {
namespace {

// Dispatch, init, argument read, software init, spinning, report (core_config(), 50 ns memory and
// three table entries of 5 + 50 ns on the first access of all).
constexpr Picoseconds block_time(std::int64_t clocks) {
  return Picoseconds((100 + 50 + 50 + 200 + clocks + 100) * 1000);
}

struct Finish {
  std::vector<SimTime> at;  // by queue
};

// Runs in small steps and notes when each queue has `entries` completions.
Finish run_until_done(CommandBench& bench, std::vector<TestQueue>& queues, std::size_t entries,
                      Picoseconds step, Picoseconds limit) {
  Finish finish;
  finish.at.assign(queues.size(), 0);
  std::vector<std::size_t> seen(queues.size(), 0);
  std::size_t left = queues.size();
  for (Picoseconds now; left > 0 && now < limit; now += step) {
    bench.run(step);
    for (std::size_t i = 0; i < queues.size(); ++i) {
      seen[i] += bench.tags(queues[i]).size();
      if (finish.at[i] == 0 && seen[i] == entries) {
        finish.at[i] = model::sim_now();
        --left;
      }
    }
  }
  EXPECT_EQ(left, 0U) << "queues that did not finish";
  return finish;
}

TEST(CommandSchedule, AQueueIsLoadedAtItsFirstDoorbellNotBefore) {
  CommandBench bench;
  auto queue = bench.make();
  EXPECT_EQ(bench.command.statistics().maps, 0U);
  bench.submit(queue, nop(1));
  bench.run(20_us);
  EXPECT_EQ(bench.command.statistics().maps, 1U);
  bench.submit(queue, nop(2));
  bench.run(20_us);
  EXPECT_EQ(bench.command.statistics().maps, 1U) << "it has kept its slot";
}

TEST(CommandSchedule, AnIdleQueueGivesItsSlotToOneThatNeedsIt) {
  CommandBench bench;
  std::vector<TestQueue> queues;
  for (unsigned i = 0; i < 6; ++i) queues.push_back(bench.make());
  for (auto& queue : queues) {
    bench.submit(queue, nop(queue.id));
    bench.run(20_us);
    EXPECT_EQ(bench.tags(queue).size(), 1U);
  }
  EXPECT_EQ(bench.command.statistics().maps, 6U);
  EXPECT_EQ(bench.command.statistics().preemptions, 0U);
  const auto state = bench.descriptor(queues[0]);  // unloaded: its state is in the descriptor
  EXPECT_EQ(state.read_index, 1U);
  EXPECT_EQ(state.completed, 1U);
  EXPECT_EQ(state.completion_index, 1U);
  EXPECT_EQ(state.maps, 1U);
}

TEST(CommandSchedule, SixtyFiveQueuesOnFourSlotsShareThemFairly) {
  CommandBench bench;
  std::vector<TestQueue> queues;
  for (unsigned i = 0; i < 65; ++i) queues.push_back(bench.make({1 + i % 3, 7}));
  for (auto& queue : queues) {
    const auto entry =
        spin(bench, queue.spec.process, 0, 1000, 1, abi::kEntryCompletion | abi::kEntryBarrier);
    for (unsigned i = 0; i < 100; ++i) bench.push(queue, entry);
    bench.ring(queue);
  }
  const auto finish = run_until_done(bench, queues, 100, 20_us, 20_ms);
  const auto [first, last] = std::minmax_element(finish.at.begin(), finish.at.end());
  // 65 queues in 17 rounds of four; each gets a quantum (10 us, 6..7 kernels) per round, so that
  // the first one is done when the last one lacks no more than two rounds.
  EXPECT_LT(*last - *first, 2 * 17 * 13'000'000U);
  EXPECT_GT(bench.command.statistics().preemptions, 65 * 10U);
  EXPECT_EQ(bench.command.statistics().entries, 6500U);
}

TEST(CommandSchedule, QuantumAndPercentageOfTheDescriptorAreKept) {
  std::vector<std::uint64_t> preemptions;
  CommandBench bench;
  for (const std::uint32_t quantum : {200U, 50U}) {
    std::vector<TestQueue> queues;
    const auto before = bench.command.statistics().preemptions;
    for (unsigned i = 0; i < 5; ++i) {
      QueueSpec spec;
      spec.quantum_us = 2 * quantum;
      auto queue = bench.describe(spec);
      queue.mqd.percentage = 50;
      if (queue.id == 0) bench.map_process(1);
      bench.add(queue);
      const auto entry = spin(bench, 1, 0, 1000, 1, abi::kEntryCompletion | abi::kEntryBarrier);
      for (unsigned k = 0; k < 64; ++k) bench.push(queue, entry);
      queues.push_back(queue);
    }
    for (auto& queue : queues) bench.ring(queue);
    run_until_done(bench, queues, 64, 10_us, 5_ms);
    preemptions.push_back(bench.command.statistics().preemptions - before);
  }
  // 64 kernels of 1.6 us are about 105 us: less than a quantum of 200, two of 50.
  EXPECT_EQ(preemptions[0], 0U);
  EXPECT_GE(preemptions[1], 4U);
  EXPECT_LE(preemptions[1], 12U);
}

TEST(CommandSchedule, AHigherPriorityTakesASlotAtTheNextTaskBorder) {
  auto config = command_chip_config();
  config.command.slots = 1;
  config.command.quantum = 10_ms;
  CommandBench bench(config);
  QueueSpec low, high;
  low.priority = 3;
  high.priority = 12;
  auto slow = bench.make(low);
  auto fast = bench.make(high);
  for (std::uint32_t i = 0; i < 20; ++i) {
    bench.push(slow, spin(bench, 1, i, 10'000, 1, abi::kEntryCompletion | abi::kEntryBarrier));
  }
  bench.ring(slow);
  bench.run(55_us);
  bench.submit(fast, nop(99));
  bench.run(12_us);
  EXPECT_EQ(bench.tags(fast).size(), 1U) << "one kernel of 10 us was in flight";
  EXPECT_LT(bench.tags(slow).size(), 8U);
  bench.run(300_us);
  EXPECT_EQ(bench.command.statistics().entries, 21U);
  EXPECT_EQ(bench.command.statistics().preemptions, 1U);
}

TEST(CommandSchedule, HighPriorityNeverFinishesAfterLowOnEqualWork) {
  CommandBench bench;
  std::vector<TestQueue> queues;
  for (unsigned i = 0; i < 12; ++i) {
    QueueSpec spec;
    spec.priority = i % 2 == 0 ? 2 : 11;
    queues.push_back(bench.make(spec));
  }
  for (auto& queue : queues) {
    const auto entry = spin(bench, 1, 0, 2000, 2, abi::kEntryCompletion | abi::kEntryBarrier);
    for (unsigned i = 0; i < 30; ++i) bench.push(queue, entry);
    bench.ring(queue);
  }
  const auto finish = run_until_done(bench, queues, 30, 5_us, 20_ms);
  SimTime last_high = 0, first_low = UINT64_MAX;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (i % 2 == 0) {
      first_low = std::min(first_low, finish.at[i]);
    } else {
      last_high = std::max(last_high, finish.at[i]);
    }
  }
  EXPECT_LE(last_high, first_low);
}

TEST(CommandSchedule, APreemptedKernelGoesOnWithItsNextBlock) {
  auto config = command_chip_config();
  config.command.slots = 1;
  config.ai_cores = 1;
  CommandBench bench(config);
  auto first = bench.make();
  auto second = bench.make();
  bench.submit(first, spin(bench, 1, 1, 5000, 20));
  bench.submit(second, spin(bench, 1, 2, 5001, 20));
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(first).size(), 1U);
  EXPECT_EQ(bench.tags(second).size(), 1U);
  EXPECT_EQ(bench.blocks(), 40U) << "no block twice, none left out";
  EXPECT_GT(bench.command.statistics().preemptions, 5U);
}

TEST(CommandSchedule, WithoutASaveAreaAKernelRunsToItsEnd) {
  auto config = command_chip_config();
  config.command.slots = 1;
  config.ai_cores = 1;
  CommandBench bench(config);
  QueueSpec spec;
  spec.save_area = false;
  auto first = bench.make(spec);
  auto second = bench.make(spec);
  bench.submit(first, spin(bench, 1, 1, 5000, 20));
  bench.submit(second, spin(bench, 1, 2, 5001, 20));
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(first).size(), 1U);
  EXPECT_EQ(bench.tags(second).size(), 1U);
  EXPECT_EQ(bench.command.statistics().preemptions, 0U);
}

TEST(CommandSchedule, ACoreMaskOfNCoresTakesOneNthOfTheTime) {
  std::vector<SimTime> times;
  CommandBench bench;
  for (const unsigned cores : {1U, 2U, 4U, 8U}) {
    QueueSpec spec;
    spec.core_mask = (std::uint64_t{1} << cores) - 1;
    std::vector<TestQueue> queues{bench.make(spec)};
    bench.submit(queues[0], nop(0));  // loads it
    bench.run(20_us);
    bench.tags(queues[0]);
    const auto begin = model::sim_now();
    bench.submit(queues[0], spin(bench, 1, 1, 20'000, 16));
    times.push_back(run_until_done(bench, queues, 1, 100_ns, 1_ms).at[0] - begin);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double rounds = 16.0 / (1U << i);
    const auto expected = rounds * static_cast<double>(block_time(20'000).count());
    EXPECT_NEAR(static_cast<double>(times[i]), expected, 2'000'000) << (1U << i) << " cores";
  }
}

// Of a queue of all eight cores; a launch behind it has all of them, whatever came before.
TEST(CommandSchedule, ALaunchKeepsToAsManyCoresAsItSays) {
  CommandBench bench;
  std::vector<TestQueue> queues{bench.make(QueueSpec{})};
  bench.submit(queues[0], nop(0));
  bench.run(20_us);
  bench.tags(queues[0]);
  for (const unsigned cores : {1U, 2U, 5U, 8U, 100U, 0U}) {
    auto entry = spin(bench, 1, 1, 20'000, 16);
    auto payload = entry.get<abi::LaunchPayload>();
    payload.cores = cores;
    entry.set(payload);
    const auto begin = model::sim_now();
    bench.submit(queues[0], entry);
    const auto time = run_until_done(bench, queues, 1, 100_ns, 1_ms).at[0] - begin;
    const unsigned used = cores == 0 ? 8 : std::min(cores, 8U);
    const unsigned rounds = (16 + used - 1) / used;
    const double expected = rounds * static_cast<double>(block_time(20'000).count());
    EXPECT_NEAR(static_cast<double>(time), expected, 2'000'000) << cores << " cores";
  }
}

// Both are in slots; the low one was first.
TEST(CommandSchedule, FreeCoresGoToTheHigherPriority) {
  CommandBench bench;
  QueueSpec low, high;
  low.priority = 2;
  high.priority = 11;
  std::vector<TestQueue> queues{bench.make(low), bench.make(high)};
  bench.submit(queues[0], spin(bench, 1, 1, 10'000, 64));
  bench.run(5_us);
  bench.submit(queues[1], spin(bench, 1, 2, 10'000, 64));
  const auto finish = run_until_done(bench, queues, 1, 1_us, 2_ms);
  // One round of the low one's blocks, eight of the high one's; then seven of the low one's.
  const auto round = static_cast<SimTime>(block_time(10'000).count());
  EXPECT_NEAR(static_cast<double>(finish.at[0] - finish.at[1]), 7.0 * static_cast<double>(round),
              static_cast<double>(round));
}

TEST(CommandSchedule, FreeEnginesGoToTheHigherPriority) {
  auto config = command_chip_config();
  config.dma.engines = 1;
  CommandBench bench(config);
  QueueSpec low, high;
  low.priority = 2;
  high.priority = 11;
  std::vector<TestQueue> queues{bench.make(low), bench.make(high)};
  for (std::uint32_t i = 0; i < 20; ++i) {
    bench.push(queues[0], fill(i, kData, 1_MiB, 1));
    bench.push(queues[1], fill(i, kData, 1_MiB, 2));
  }
  bench.ring(queues[0]);
  bench.ring(queues[1]);
  const auto finish = run_until_done(bench, queues, 20, 100_ns, 2_ms);
  EXPECT_GT(finish.at[0], finish.at[1]);
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.partition(1, kData)), 1U)
      << "the low one was last";
}

TEST(CommandSchedule, KernelsOfTwoQueuesShareTheCoresInTurn) {
  CommandBench bench;
  std::vector<TestQueue> queues{bench.make({1}), bench.make({2})};
  for (auto& queue : queues) {
    bench.submit(queue, spin(bench, queue.spec.process, 1, 10'000, 64));
  }
  const auto finish = run_until_done(bench, queues, 1, 1_us, 2_ms);
  const auto [first, last] = std::minmax_element(finish.at.begin(), finish.at.end());
  EXPECT_LE(*last - *first, 2 * static_cast<SimTime>(block_time(10'000).count()));
}

}  // namespace
}  // namespace npu::test
