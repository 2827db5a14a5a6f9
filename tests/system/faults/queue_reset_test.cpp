// SPDX-License-Identifier: Apache-2.0
// Resets of the DMA queue under tasks that copy all the time.
#include <array>

#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

constexpr std::size_t kCopies = 400;
constexpr Bytes kCopy = 4_KiB;

// Copies from the card, each to a place of its own, which is cleared again when its copy is over:
// a command that the card executes later, or twice, leaves its mark.
void copy_all_the_time(FaultyCard& bench, platform::DmaMemory& target, unsigned& done) {
  const auto stream = must(bench.device->create_stream());
  for (std::size_t i = 0; i < kCopies; ++i) {
    const auto command =
        DmaCommand::device_to_host(bench.memory.address, target.bus() + i * kCopy, kCopy);
    const Status copied = bench.copy(stream, command);
    const auto place = target.cpu().subspan(i * kCopy, kCopy);
    if (copied) {
      EXPECT_TRUE(all_equal(place, 0x5A)) << i;
      ++done;
    } else {
      EXPECT_EQ(copied.error().code, ErrorCode::kAborted) << copied.error().message();
    }
    std::fill_n(place.data, place.size, std::byte{0});
  }
  EXPECT_TRUE(bench.device->destroy_stream(stream, bench.host.clock().now() + 1_s));
}

TEST(QueueReset, UnderLoadEveryCopyIsDoneOnceOrAborted) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto source = bench.buffer(kCopy, 0x5A);
    const auto in = DmaCommand::host_to_device(source->bus(), bench.memory.address, kCopy);
    ASSERT_TRUE(bench.copy(bench.stream, in));
    std::array<unsigned, 3> done{};
    std::array<std::unique_ptr<platform::DmaMemory>, 3> targets;
    std::array<std::unique_ptr<platform::Task>, 3> tasks;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      targets[t] = bench.buffer(kCopies * kCopy, 0);
      tasks[t] = must(bench.host.tasks().spawn(
          "copies", [&, t] { copy_all_the_time(bench, *targets[t], done[t]); }));
    }
    for (Picoseconds pause = 20_us; pause < 40_us; pause = pause + 777_ns) {
      bench.host.clock().sleep_until(bench.host.clock().now() + pause);
      const Status reset = bench.device->reset_queue();
      ASSERT_TRUE(reset) << reset.error().message();
    }
    for (auto& task : tasks) task->join();
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      EXPECT_TRUE(all_equal(targets[t]->cpu(), 0)) << t;
      EXPECT_GT(done[t], kCopies / 2) << t;
    }
    EXPECT_LT(done[0] + done[1] + done[2], 3 * kCopies) << "no reset was in the way of a copy";
    bench.expect_works();
  });
}

}  // namespace
}  // namespace npu::test
