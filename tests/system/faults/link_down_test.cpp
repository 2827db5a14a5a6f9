// SPDX-License-Identifier: Apache-2.0
// The card's link goes down while the driver waits; it comes back and the card is opened again.
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

// A host task that takes the link down `after` from now.
std::unique_ptr<platform::Task> cut(Machine& machine, platform::Platform& host, Picoseconds after) {
  const auto when = host.clock().now() + after;
  return must(host.tasks().spawn("cut", [&machine, &host, when] {
    host.clock().sleep_until(when);
    machine.system.fabric().link(0).set_down(true);
  }));
}

// The card comes back. Software waits 100 ms before it looks for it (PCIe 6.6.1): it is reset.
void bring_back(Machine& machine, platform::Platform& host) {
  machine.system.fabric().link(0).set_down(false);
  host.clock().sleep_until(host.clock().now() + 100_ms);
}

void expect_lost_and_found(WaitPolicy policy, bool to_host) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    {
      FaultBench bench(host);
      const auto memory = bench.buffer(4_MiB, 0x5A);
      const auto behind = bench.buffer(64_KiB, 0x33);
      const auto command = bench.long_copy(to_host, *memory);
      const auto task = cut(machine, host, 20_us);
      const auto called = host.clock().now();
      expect_code(bench.copy(bench.stream, command, policy), ErrorCode::kDeviceLost);
      EXPECT_LT(host.clock().now() - called, 100_ms);
      EXPECT_TRUE(bench.device->lost());
      expect_code(bench.copy(bench.stream, command, policy), ErrorCode::kDeviceLost);
      EXPECT_TRUE(all_equal(behind->cpu(), 0x33));
    }
    bring_back(machine, host);
    FaultBench(host).expect_works();
  });
}

TEST(LinkDown, WhilePollingForACopyToTheDevice) {
  expect_lost_and_found(WaitPolicy::kPolling, false);
}
TEST(LinkDown, WhileSleepingForACopyToTheDevice) {
  expect_lost_and_found(WaitPolicy::kInterrupt, false);
}
TEST(LinkDown, WhilePollingForACopyToTheHost) {
  expect_lost_and_found(WaitPolicy::kPolling, true);
}
TEST(LinkDown, WhileWaitingAdaptivelyForACopyToTheHost) {
  expect_lost_and_found(WaitPolicy::kAdaptive, true);
}

TEST(LinkDown, AWaitThatOnlyTimedOutCanBeRepeated) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    FaultBench bench(host);
    const auto memory = bench.buffer(4_MiB, 0x5A);
    const auto command = DmaCommand::host_to_device(memory->bus(), bench.memory.address, 4_MiB);
    const auto ticket = must(bench.device->submit(bench.stream, command));
    const auto deadline = host.clock().now() + 10_us;
    expect_code(bench.device->wait(ticket, WaitPolicy::kPolling, deadline), ErrorCode::kTimeout);
    EXPECT_LT(host.clock().now(), deadline + 10_us) << "looks at the card behind the data";
    EXPECT_TRUE(bench.device->wait(ticket, WaitPolicy::kPolling, deadline + 1_s));
  });
}

TEST(LinkDown, ACardThatIsGoneIsNotFound) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    machine.system.fabric().link(0).set_down(true);
    const auto device = driver::Device::open_index(host, 0);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, ErrorCode::kNotFound) << device.error().message();
    bring_back(machine, host);
    FaultBench(host).expect_works();
  });
}

}  // namespace
}  // namespace npu::test
