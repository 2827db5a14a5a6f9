// SPDX-License-Identifier: Apache-2.0
// A device that is shut down while tasks of the simulated host use it.
#include "npu/driver/process.hpp"
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

using driver::ProcessContext;

constexpr unsigned kCrowd = 8;

TEST(Shutdown, WakesEveryTaskThatSleepsOnAnInterrupt) {
  Machine().run([](platform::Platform& host) {
    const auto device = open_card(host);
    const auto process = must(ProcessContext::open(*device));
    const auto signal = must(process->signals().create());
    const auto limit = host.clock().now() + 1_s;
    std::vector<std::unique_ptr<platform::Task>> crowd;
    crowd.reserve(kCrowd);
    for (unsigned i = 0; i < kCrowd; ++i) {
      crowd.push_back(must(host.tasks().spawn("waits", [&] {
        const auto met = process->signals().wait(signal, WaitPolicy::kInterrupt, limit);
        ASSERT_FALSE(met);
        EXPECT_EQ(met.error().code, ErrorCode::kAborted) << met.error().message();
      })));
    }
    host.clock().sleep_until(host.clock().now() + 20_ms);  // their next probes are far away
    const auto begin = host.clock().now();
    EXPECT_TRUE(device->shutdown());
    for (auto& task : crowd) task->join();
    EXPECT_LT(host.clock().now() - begin, 1_ms);
  });
}

// Clearing the ring takes a while, and the interrupt is opened behind that.
TEST(Shutdown, EndsTheMakingOfAQueueAtAnyMoment) {
  Machine().run([](platform::Platform& host) {
    driver::QueueOptions options;
    options.ring = {driver::QueueMemory::kDevice, 8};
    for (auto when = 0_us; when < 60_us; when += 2_us) {
      const auto device = open_card(host);
      const auto process = must(ProcessContext::open(*device));
      const auto maker = must(host.tasks().spawn("makes a queue", [&] {
        const auto queue = process->create_queue(options);
        if (queue) return;
        const auto code = queue.error().code;
        EXPECT_TRUE(code == ErrorCode::kAborted || code == ErrorCode::kInvalidArgument)
            << queue.error().message();
      }));
      host.clock().sleep_until(host.clock().now() + when);
      static_cast<void>(device->shutdown());
      maker->join();
    }
  });
}

}  // namespace
}  // namespace npu::test
