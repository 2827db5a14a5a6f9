// SPDX-License-Identifier: Apache-2.0
// Resets of a card whose queues are at everything that queues can be at.
#include <algorithm>

#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

using Reset = void (*)(Machine&, platform::Platform&, platform::Bdf);

// Kernels on all cores, copies both ways and within, a wait, entries not yet fetched, and more
// queues than slots.
void set_everything_going(QueueCard& card, QueueProcess& process) {
  const auto bus = process.host->bus();
  const auto at = process.memory + 1_MiB;
  auto& first = process.add();
  const auto kernel = process.spin(first, 185'000'000);  // 0.1 s
  for (int i = 0; i < 20; ++i) {
    auto& queue = process.add();
    card.submit(queue, entries::fill(at, 1_MiB, 1));
    for (int k = 0; k < 8; ++k) {
      card.submit(queue, entries::copy_to_host(at, bus, QueueProcess::kScratch));
      card.submit(queue, entries::copy_to_device(bus, at, QueueProcess::kScratch));
      card.submit(queue, entries::timestamp(bus));
    }
    card.submit(queue, kernel);
  }
  card.submit(first, entries::wait_event({1}, 1));
}

void expect_nothing_left(Reset reset) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    {
      QueueCard card(host);
      QueueProcess process(card);
      set_everything_going(card, process);
      card.pass(20_us);
      auto& command = machine.system.card(0).command();
      ASSERT_FALSE(command.idle());
      const auto bdf = card.device->info().bdf();
      auto task = must(host.tasks().spawn("reset", [&] { reset(machine, host, bdf); }));
      card.pass(10_us);  // what had left the card before it
      EXPECT_TRUE(command.idle());
      const auto before = command.statistics();
      const auto bytes = process.host->cpu();
      std::fill_n(bytes.data, bytes.size, std::byte{0xEE});
      task->join();
      card.pass(200_ms);  // longer than the kernels would have taken
      EXPECT_TRUE(std::all_of(bytes.data, bytes.data + bytes.size,
                              [](std::byte b) { return b == std::byte{0xEE}; }));
      EXPECT_EQ(command.statistics().entries, before.entries);
      EXPECT_EQ(command.statistics().faults, before.faults);
      EXPECT_TRUE(command.idle());
    }
    QueueCard card(host);
    QueueProcess process(card);
    auto& queue = process.add();
    EXPECT_TRUE(card.run(queue, entries::fill(process.memory + 1_MiB, 4096, 77)));
    EXPECT_EQ(process.read(queue, process.memory + 1_MiB, 4)[0], 77U);
    EXPECT_TRUE(card.run(queue, process.spin(queue, 1000)));
  });
}

TEST(QueueReset, AFunctionLevelResetLeavesNothingBehind) {
  expect_nothing_left([](Machine&, platform::Platform& host, platform::Bdf bdf) {
    EXPECT_TRUE(host.reset_function(bdf));
  });
}

TEST(QueueReset, ALinkThatGoesDownLeavesNothingBehind) {
  expect_nothing_left([](Machine& machine, platform::Platform& host, platform::Bdf) {
    auto& link = machine.system.fabric().link(0);
    link.set_down(true);
    host.clock().sleep_until(host.clock().now() + 1_ms);
    link.set_down(false);
    host.clock().sleep_until(host.clock().now() + 100_ms);  // PCIe 6.6.1
  });
}

}  // namespace
}  // namespace npu::test
