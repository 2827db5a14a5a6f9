// SPDX-License-Identifier: Apache-2.0
// Cores that execute nothing for a time, or until they are stopped or reset.
#include <list>

#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

constexpr unsigned kSteps = 200;

// Loads past its cache, each behind 100 instructions.
int steps(AicpuPort& port) {
  for (unsigned i = 0; i < kSteps; ++i) {
    port.compute(100);
    port.invalidate(kDataAt, 4);
    port.load(kDataAt, 4);
  }
  return 0;
}

// Blocks on cores 0 that hang between two times, each on a bench of its own.
class Cases {
 public:
  AicpuBench& add(const Program& program, SimTime from, SimTime until, bool naive = false) {
    auto& bench = benches_.emplace_back(aicpu_config(), 24, 1,
                                        ("bench" + std::to_string(benches_.size())).c_str());
    bench.programs.poll_naively(naive);
    bench.start(0, program);
    if (from == until) return bench;
    bench.at(from, [&bench] { bench.programs.set_hung(0, true); });
    bench.at(until, [&bench] { bench.programs.set_hung(0, false); });
    return bench;
  }
  // When the blocks ended, in their order.
  std::vector<SimTime> ends() {
    std::vector<SimTime> times;
    benches_.front().run();
    for (const auto& bench : benches_) {
      EXPECT_EQ(bench.done.size(), 1U);
      times.push_back(bench.done.empty() ? 0 : bench.done.back().when);
    }
    return times;
  }

 private:
  std::list<AicpuBench> benches_;
};

TEST(AicpuHung, GoesOnAsMuchLater) {
  constexpr SimTime kHung = 30'000 * kNs, kStep = 1'111'000;
  Cases cases;
  cases.add(steps, 0, 0);
  for (unsigned i = 1; i < 40; ++i) cases.add(steps, i * kStep, i * kStep + kHung);
  const auto ends = cases.ends();
  ASSERT_GT(ends[0], 39 * kStep) << "all hang while they run";
  for (unsigned i = 1; i < ends.size(); ++i) {
    EXPECT_LE(ends[i], ends[0] + kHung) << i;
    // An access that is in flight when it hangs ends meanwhile, and so do the instructions ahead of
    // one.
    EXPECT_GE(ends[i], ends[0] + kHung - kMemoryLatency - 200 * kNs) << i;
  }
}

// Nor does it make the access that it was waiting to make.
TEST(AicpuHung, MakesNoAccessMeanwhile) {
  constexpr SimTime kHung = 100'000 * kNs, kStep = 250 * kNs;
  constexpr SimTime kInFlight = 50 * kNs + 500 * kNs + 50 * kNs;  // and the block's report
  const Program late = [](AicpuPort& port) {
    port.compute(20'000);
    port.load_register(2, 4);
    return 0;
  };
  Cases cases;
  for (unsigned i = 0; i < 120; ++i) cases.add(late, i * kStep + 1, i * kStep + 1 + kHung);
  const auto ends = cases.ends();
  for (unsigned i = 0; i < ends.size(); ++i) {
    const SimTime from = i * kStep + 1;
    EXPECT_TRUE(ends[i] <= from + kInFlight || ends[i] > from + kHung) << from << ' ' << ends[i];
  }
  EXPECT_LT(ends.back(), 119 * kStep) << "the last one hangs behind its end";
  EXPECT_GT(ends.front(), kHung);
}

// A poll loop that sleeps sees what has changed when it goes on, as one whose rounds are all run.
TEST(AicpuHung, SeesWhatHasChangedWhenItGoesOn) {
  constexpr SimTime kFrom = 20'000 * kNs, kUntil = 40'000 * kNs;
  const std::vector<SimTime> changes = {10'000 * kNs, 25'000 * kNs, 39'950 * kNs, 40'300 * kNs};
  const Program poll = [](AicpuPort& port) {
    while (port.load_register(2, 4) != 6) port.poll_again(~std::uint64_t{0});
    return 0;
  };
  Cases cases;
  for (const SimTime changed : changes) {
    for (const bool naive : {false, true}) {
      auto& bench = cases.add(poll, kFrom, kUntil, naive);
      bench.at(changed, [&bench] { bench.windows.change(2, 4, 6); });
    }
  }
  const auto ends = cases.ends();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(ends[2 * i], ends[2 * i + 1]) << changes[i];
    EXPECT_EQ(ends[2 * i] > kUntil, changes[i] > kFrom) << changes[i];
  }
}

TEST(AicpuHung, MeetsItsDeadlineLate) {
  constexpr SimTime kUntil = 50'000 * kNs;
  const Program poll = [](AicpuPort& port) {
    while (port.poll_again(30'000)) port.load_register(2, 4);
    return 0;
  };
  Cases cases;
  for (const bool naive : {false, true}) cases.add(poll, 20'000 * kNs, kUntil, naive);
  const auto ends = cases.ends();
  EXPECT_GT(ends[0], kUntil);
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(AicpuHung, EndsNoBlockButCanBeStopped) {
  AicpuBench bench;
  bench.at(1, [&] { bench.programs.set_hung(0, true); });
  bench.start(0, steps, 77);
  bench.start(1, steps, 78);
  bench.at(500'000 * kNs, [&] {
    ASSERT_EQ(bench.done.size(), 1U);
    EXPECT_EQ(bench.done[0].core, 1U) << "others work";
    bench.programs.stop(77);
  });
  bench.run();
  ASSERT_EQ(bench.done.size(), 2U);
  EXPECT_EQ(bench.done[1].when, 500'000 * kNs + 500 * kNs);  // and its report
}

TEST(AicpuHung, WorksAgainAfterAReset) {
  AicpuBench bench;
  bench.at(1, [&] { bench.programs.set_hung(0, true); });
  bench.start(0, steps);
  bench.at(500'000 * kNs, [&] { bench.programs.function_reset(0); });
  bench.run(600_us);
  EXPECT_TRUE(bench.done.empty()) << "nobody is told";
  const auto again = bench.run_program(steps);
  EXPECT_FALSE(again.fault.failed());
}

}  // namespace
}  // namespace npu::test
