// SPDX-License-Identifier: Apache-2.0
// Instructions that host software counts take the time of the task that has executed them.
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kOne = 200;  // ps, at cpu_config()'s clock

using Executed = OnBench<HostBench>;

TEST_F(Executed, InstructionsTakeTimeBeforeTheNextAccessLeaves) {
  std::uint64_t counter = 1'000'000;  // of what ran before: nobody's
  bench.cpus.executed().follow(&counter);
  bench.run([&] {
    counter += 450;
    EXPECT_EQ(bench.cpus.local_now(), 450 * kOne);
    bench.cpus.synchronise();
    EXPECT_EQ(model::sim_now(), 450 * kOne);
    counter += 50;
    bench.cpus.charge(Picoseconds(1'000));
    bench.cpus.synchronise();
    EXPECT_EQ(model::sim_now(), 500 * kOne + 1'000);
  });
  EXPECT_EQ(bench.cpus.executed().all(), 500U);
}

TEST_F(Executed, EachTaskPaysForItsOwn) {
  std::uint64_t counter = 0;
  bench.cpus.executed().follow(&counter);
  std::int64_t busy = 0;
  bench.run([&] {
    auto task = bench.tasks().spawn("second", [&] {
      counter += 100;
      bench.cpus.synchronise();
      busy = bench.cpus.current().usage.busy.count();
    });
    (*task)->join();
  });
  EXPECT_EQ(busy, static_cast<std::int64_t>(100 * kOne));
}

TEST_F(Executed, WithoutACounterNothingIsKnown) {
  EXPECT_FALSE(bench.cpus.executed().is_known());
  bench.run([&] { EXPECT_EQ(bench.cpus.local_now(), 0U); });
}

}  // namespace
}  // namespace npu::test
