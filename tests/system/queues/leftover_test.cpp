// SPDX-License-Identifier: Apache-2.0
// A card that is closed while it reaches no host memory keeps its queues; who opens it next gets it
// empty.
#include "npu/abi/pci.hpp"
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

void stop_bus_mastering(platform::Platform& host, platform::Bdf bdf) {
  const auto command = host.pci().read16(bdf, abi::pci::kCommand);
  host.pci().write16(bdf, abi::pci::kCommand,
                     static_cast<std::uint16_t>(command & ~abi::pci::kCommandBusMaster));
}

void close_without_answers(platform::Platform& host) {
  QueueCard card(host);
  QueueProcess process(card);
  auto& queue = process.add();
  EXPECT_TRUE(card.run(queue, entries::nop()));
  stop_bus_mastering(host, card.device->info().bdf());
  for (int call = 0; call < 2; ++call) {
    const auto begin = host.clock().now();
    const auto end = process.process->destroy(queue, card.in(5_ms));
    EXPECT_FALSE(end);
    EXPECT_LT(host.clock().now() - begin, 6_ms + 10_us);
  }
}

TEST(QueueLeftovers, ACardThatDidNotAnswerWhenItWasClosedIsEmptyWhenItIsOpened) {
  Machine().run([](platform::Platform& host) {
    for (int round = 0; round < 3; ++round) close_without_answers(host);
    QueueCard card(host);
    QueueProcess process(card);
    auto& queue = process.add();
    EXPECT_TRUE(card.run(queue, entries::fill(process.memory + 1_MiB, 4096, 77)));
    EXPECT_EQ(process.read(queue, process.memory + 1_MiB, 4)[0], 77U);
  });
}

}  // namespace
}  // namespace npu::test
