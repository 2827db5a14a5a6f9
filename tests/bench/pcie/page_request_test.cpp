// SPDX-License-Identifier: Apache-2.0
// Page requests (PRI): the capability, the message up, the response down.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kPageMessage = 8 + 16 + 4 + 4;  // framing, header, PASID prefix, DLLPs

model::SystemConfig sharing_card(model::SystemConfig config = one_card()) {
  for (auto& card : config.cards) {
    card.mmu.fault_policy = model::PageFaultPolicy::kAts;
    card.mmu.max_page_requests = 8;
  }
  return config;
}

struct PageRequests : PcieBench {
  explicit PageRequests(const model::SystemConfig& config = sharing_card(), Bdf at = kCard)
      : PcieBench(config), card(at), pri(find_extended(card, pci::kExtPri)) {
    for (unsigned i = 0; i < fabric.cards(); ++i) {
      fabric.endpoint(i).on_page_response(
          [this](unsigned, const model::PageResponseMessage& message) {
            arrived = model::sim_now();
            told = message;
            return message.group < 8;
          });
    }
  }
  void enable(std::uint32_t allocation) {
    enable_bus_master(card);
    config_write(card, find_extended(card, pci::kExtPasid) + pci::kPasidControl, 1, 2);
    config_write(card, pri + pci::kPriAllocation, allocation);
    config_write(card, pri + pci::kPriControl, pci::kPriControlEnable, 2);
  }
  std::uint16_t status() {
    return static_cast<std::uint16_t>(config_read(card, pri + pci::kPriStatus, 2));
  }

  const Bdf card;
  const std::uint32_t pri;
  std::uint64_t arrived = 0;
  model::PageResponseMessage told;
};

TEST(PageRequestCapability, IsThereWhereTheCardUsesTheHostsPages) {
  PcieBench without;
  EXPECT_EQ(without.find_extended(kCard, pci::kExtPri), 0U);
  EXPECT_NE(without.find_extended(kCard, pci::kExtAts), 0U) << "compute queues use it";
}

TEST(PageRequestCapability, SaysWhatThePageRequestsAre) {
  PageRequests bench;
  ASSERT_NE(bench.pri, 0U);
  bench.run([&] {
    EXPECT_EQ(bench.config_read(kCard, bench.pri + pci::kPriCapacity), 8U);
    EXPECT_EQ(bench.status(), pci::kPriStatusStopped | pci::kPriStatusPasid);
    EXPECT_EQ(bench.endpoint().page_requests(0), 0U);
    bench.enable(5);
    EXPECT_EQ(bench.status(), pci::kPriStatusPasid);
    EXPECT_EQ(bench.endpoint().page_requests(0), 5U);
    bench.config_write(kCard, bench.pri + pci::kPriAllocation, 1000);
    EXPECT_EQ(bench.endpoint().page_requests(0), 8U) << "no more than its capacity";
  });
}

TEST(PageRequestCapability, IsForgottenByAReset) {
  on_bench<PageRequests>([](PageRequests& bench) {
    bench.enable(5);
    const auto express = bench.find_capability(kCard, pci::kCapPciExpress);
    bench.config_write(kCard, express + pci::kExpDeviceControl, pci::kExpDeviceControlFlr, 2);
    bench.wait(2_ms);
    EXPECT_EQ(bench.endpoint().page_requests(0), 0U);
    EXPECT_FALSE(bench.endpoint().translations_enabled(0));
  });
}

TEST(PageRequest, IsAMessageUp) {
  PageRequests bench;
  std::uint64_t begin = 0;
  bench.run([&] {
    bench.enable(8);
    bench.chip().pasid = 77;
    begin = model::sim_now();
    bench.chip().ask_for_page(0x900'0020'0000, 3);
  });
  ASSERT_EQ(bench.memory.page_requests.size(), 1U);
  const auto& request = bench.memory.page_requests[0];
  EXPECT_EQ(request.when - begin, 15'000 + wire(kPageMessage) + 50'000 + 60'000);
  EXPECT_EQ(request.requester, kCard.packed());
  EXPECT_EQ(request.pasid, 77U);
  EXPECT_EQ(request.address, 0x900'0020'0000U);
  EXPECT_EQ(request.message.group, 3);
}

TEST(PageRequest, IsRefusedWithoutEnable) {
  PageRequests bench;
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().ask_for_page(0x900'0020'0000, 3);
  });
  EXPECT_TRUE(bench.memory.page_requests.empty());
  ASSERT_EQ(bench.chip().refused.size(), 1U);
  EXPECT_EQ(bench.chip().refused[0], model::Completion::kCompleterAbort);
}

TEST(PageResponse, IsRoutedByTheCardsNumberThroughASwitch) {
  PageRequests bench(sharing_card(two_bridges()), {3, 0, 0});
  std::uint64_t begin = 0;
  bench.run([&] {
    begin = model::sim_now();
    bench.fabric.root_complex().respond_to_page_request(Bdf{3, 0, 0}.packed(), {77, 5, 1}, 0);
  });
  EXPECT_EQ(bench.arrived - begin, 60'000 + 2 * (wire(kPageMessage) + 50'000) + 100'000 + 20'000);
  EXPECT_EQ(bench.told.pasid, 77U);
  EXPECT_EQ(bench.told.group, 5);
  EXPECT_EQ(bench.told.code, 1);
}

TEST(PageResponse, ThatNobodyWaitsForIsToldInTheStatus) {
  on_bench<PageRequests>([](PageRequests& bench) {
    bench.enable(8);
    bench.fabric.root_complex().respond_to_page_request(kCard.packed(), {77, 100, 0}, 0);
    bench.wait(10_us);
    EXPECT_EQ(bench.status(), pci::kPriStatusPasid | pci::kPriStatusUnexpected);
    bench.config_write(kCard, bench.pri + pci::kPriStatus, pci::kPriStatusUnexpected, 2);
    EXPECT_EQ(bench.status(), pci::kPriStatusPasid);
  });
}

TEST(PageResponse, ForACardThatIsGoneIsLost) {
  PageRequests bench;
  bench.run([&] {
    bench.fabric.root_complex().respond_to_page_request(Bdf{9, 0, 0}.packed(), {77, 1, 0}, 0);
    bench.fabric.link(0).set_down(true);
    bench.fabric.root_complex().respond_to_page_request(kCard.packed(), {77, 1, 0}, 0);
  });
  EXPECT_EQ(bench.arrived, 0U);
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

}  // namespace
}  // namespace npu::test
