// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "npu/driver/scan.hpp"
#include "tests/system/support/machine.hpp"
#include "tests/system/support/wire_time.hpp"

namespace npu::test {
namespace {

constexpr unsigned kCards = 8;
const std::string kEight = "system-8x910b.yaml";

TEST(EightCards, AreFoundOnTheirNumaNodes) {
  Machine({}, kEight).run([](platform::Platform& host) {
    const auto quick = must(driver::scan(host));
    ASSERT_EQ(quick.cards.size(), kCards);
    EXPECT_TRUE(quick.refused.empty());
    for (unsigned i = 0; i < kCards; ++i) {
      EXPECT_EQ(quick.cards[i].device_index, i);
      EXPECT_EQ(quick.cards[i].numa_node(), i < 4 ? 0 : 1);
      EXPECT_EQ(quick.cards[i].function.device_id, 0xD110);
      EXPECT_EQ(quick.cards[i].register_bar().size, 32_KiB);
      EXPECT_EQ(quick.cards[i].memory_bar().size, 64_GiB);
    }
    // Two root ports on each bridge, a switch with an upstream and six downstream ports, 8 cards.
    EXPECT_EQ(quick.functions.size(), 2 * (2 + 1 + 6) + kCards);
    EXPECT_LT(quick.config_reads, 256u * 32 * 8);
  });
}

TEST(EightCards, AnExhaustiveScanFindsTheSame) {
  Machine({}, kEight).run([](platform::Platform& host) {
    driver::ScanOptions all;
    all.exhaustive = true;
    all.read_registers = false;
    const auto found = must(driver::scan(host, all));
    EXPECT_EQ(found.cards.size(), kCards);
    EXPECT_EQ(found.functions.size(), 2 * (2 + 1 + 6) + kCards);
    EXPECT_GE(found.config_reads, 256u * 32 * 8);
  });
}

struct Card {
  std::unique_ptr<driver::Device> device;
  driver::StreamId stream;
  driver::DeviceMemory memory;
  std::unique_ptr<platform::DmaMemory> host;
};

// The same device address on every card, each with bytes of its own, all in flight at once.
TEST(EightCards, CopyAtTheSameTimeEachItsOwnBytes) {
  Machine({}, kEight).run([](platform::Platform& host) {
    constexpr Bytes kSize = 256_KiB;
    std::vector<Card> cards(kCards);
    std::vector<driver::Ticket> tickets;
    const auto deadline = host.clock().now() + 10_s;
    for (unsigned i = 0; i < kCards; ++i) {
      auto& card = cards[i];
      card.device = open_card(host, i);
      card.stream = must(card.device->create_stream());
      card.memory = must(card.device->allocate(kSize));
      card.host = must(card.device->allocate_host(2 * kSize));
      std::memset(card.host->cpu().data, static_cast<int>(0x10 + i), kSize);
    }
    tickets.reserve(cards.size());
    for (auto& card : cards) {
      const auto in =
          driver::DmaCommand::host_to_device(card.host->bus(), card.memory.address, kSize);
      const auto out =
          driver::DmaCommand::device_to_host(card.memory.address, card.host->bus() + kSize, kSize);
      ASSERT_TRUE(card.device->submit(card.stream, in));
      tickets.push_back(must(card.device->submit(card.stream, out)));
    }
    for (unsigned i = 0; i < kCards; ++i) {
      const auto& bytes = cards[i].host->cpu();
      const Status done =
          cards[i].device->wait(tickets[i], driver::WaitPolicy::kAdaptive, deadline);
      ASSERT_TRUE(done) << done.error().message();
      EXPECT_EQ(std::memcmp(bytes.data, bytes.data + kSize, kSize), 0) << "card " << i;
      EXPECT_EQ(bytes.data[kSize], std::byte(0x10 + i));
    }
  });
}

struct Parts {
  std::int64_t entry_store, doorbell, engine_start, completion;
};

Parts measure(Machine& machine, unsigned card) {
  const auto report = machine.workload("dma_latency", {"sizes=64", "directions=d2d", "iterations=1",
                                                       "card=" + std::to_string(card)});
  const std::string prefix = "dma.d2d.64B.breakdown.";
  return {exact(report, prefix + "entry_store_ns"), exact(report, prefix + "doorbell_ns"),
          exact(report, prefix + "engine_start_ns"), exact(report, prefix + "completion_ns")};
}

// Through a switch each message is received whole, spends switch_latency inside and travels over
// the switch's own link too. Wire bytes: 12 of framing and DLLPs, header, payload.
TEST(EightCards, ASwitchAddsItsLatencyAndASecondLink) {
  Machine machine({}, kEight);
  const auto& system = machine.config();
  const auto& uplink = system.host_bridges[0].root_ports[0].children[0];
  ASSERT_EQ(uplink.kind, model::PciNodeKind::kSwitch);
  ASSERT_EQ(uplink.link.generation, 4U);
  ASSERT_EQ(uplink.link.lanes, 16U);
  const std::int64_t hop = uplink.switch_latency.count() + uplink.link.propagation.count();
  const std::int64_t entry = wire(uplink.link, 12 + 16 + 32), bell = wire(uplink.link, 12 + 12 + 4),
                     record = wire(uplink.link, 12 + 16 + 8);
  const auto parts = measure(machine, 0);
  EXPECT_EQ(parts.entry_store, 4 * 1'500 + 12'000 + 25'000 + 80'000 + 25'000 + entry + hop + entry);
  EXPECT_EQ(parts.doorbell, 31'000 + 2 * bell - 2 * entry);
  EXPECT_NEAR(static_cast<double>(parts.engine_start), 200'000, 2'000) << "it has no part in it";
  // Processing 40, egress 20, root complex 25, IOMMU 15, memory 60 ns.
  EXPECT_EQ(parts.completion, 160'000 + 80'000 + record + hop + record);
}

TEST(EightCards, MemoryOfTheOtherNodeCostsItsPenalty) {
  Machine machine({}, kEight);
  const auto near = measure(machine, 0), far = measure(machine, 4);
  EXPECT_EQ(far.entry_store, near.entry_store);
  EXPECT_EQ(far.completion - near.completion, machine.config().memory.remote_penalty.count());
}

}  // namespace
}  // namespace npu::test
