// SPDX-License-Identifier: Apache-2.0
// A function level reset while the card copies.
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

void expect_reset_survived(WaitPolicy policy, bool to_host) {
  Machine().run([&](platform::Platform& host) {
    {
      FaultyCard bench(host);
      const auto memory = bench.buffer(4_MiB, 0x5A);
      const auto behind = bench.buffer(64_KiB, 0x33);
      const auto command = bench.long_copy(to_host, *memory);
      const auto card = bench.device->info().bdf();
      const auto when = host.clock().now() + 20_us;
      const auto task = must(host.tasks().spawn("reset", [&, when] {
        host.clock().sleep_until(when);
        const Status done = host.reset_function(card);
        EXPECT_TRUE(done) << done.error().message();
      }));
      const auto called = host.clock().now();
      EXPECT_FALSE(bench.copy(bench.stream, command, policy)) << "its command is gone";
      EXPECT_LT(host.clock().now() - called, 1_s);
      EXPECT_TRUE(all_equal(behind->cpu(), 0x33));
      task->join();
    }
    FaultyCard(host).expect_works();
  });
}

TEST(FunctionReset, WhilePollingForACopyToTheDevice) {
  expect_reset_survived(WaitPolicy::kPolling, false);
}
TEST(FunctionReset, WhileSleepingForACopyToTheHost) {
  expect_reset_survived(WaitPolicy::kInterrupt, true);
}

TEST(FunctionReset, AnIdleCardWorksAfterwards) {
  Machine().run([&](platform::Platform& host) {
    const auto bdf = open_card(host)->info().bdf();
    const Status done = host.reset_function(bdf);
    EXPECT_TRUE(done) << done.error().message();
    FaultyCard(host).expect_works();
  });
}

}  // namespace
}  // namespace npu::test
