// SPDX-License-Identifier: Apache-2.0
// TLPs that arrive poisoned, malformed or unasked for at either end of a link, and other errors of
// the link: what is told, what is lost and what arrives (PCIe Base 4.0, 6.2, 7.8.4).
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

using model::Link;
using Towards = Link::Towards;

constexpr Bdf kPort{0, 0, 0};
constexpr std::uint32_t kFatal = 4, kNonFatal = 2, kCorrectable = 1;  // device status

struct TlpFaultBench : PcieBench, private model::WriteLossListener {
  TlpFaultBench() { endpoint().add_write_loss_listener(*this); }
  std::uint32_t aer(Bdf bdf, std::uint32_t offset) {
    return config_read(bdf, find_extended(bdf, pci::kExtAer) + offset);
  }
  std::uint32_t device_status(Bdf bdf) {
    return config_read(bdf, find_capability(bdf, pci::kCapPciExpress) + pci::kExpDeviceStatus, 2) &
           7;
  }
  Link& link() { return fabric.link(0); }
  std::vector<std::pair<unsigned, std::uint64_t>> lost;  // function, address

 private:
  void host_write_lost(unsigned function, std::uint64_t address) override {
    lost.emplace_back(function, address);
  }
  void may_send_again(unsigned) override {}
};

TEST(PoisonedWrite, OfTheHostIsDroppedAndItsFunctionTold) {
  on_bench<TlpFaultBench>([](TlpFaultBench& bench) {
    bench.endpoint().poison_next_write();
    EXPECT_EQ(bench.read(bench.bar(0) + 0x10), 0U) << "a read is none";
    EXPECT_EQ(bench.endpoint().armed_faults(), 1U);
    bench.write(bench.bar(0) + 0x10, 1);
    bench.write(bench.bar(0) + 0x14, 2);
    bench.wait(2_us);
    ASSERT_EQ(bench.chip().register_writes.size(), 1U);
    EXPECT_EQ(bench.chip().register_writes[0].value, 2U);
    const std::vector<std::pair<unsigned, std::uint64_t>> lost{{0, bench.bar(0) + 0x10}};
    EXPECT_EQ(bench.lost, lost);
    EXPECT_EQ(bench.aer(kCard, pci::kAerStatus), pci::kAerPoisoned);
    EXPECT_EQ(bench.aer(kCard, pci::kAerHeader + 8), bench.bar(0) + 0x10);
    EXPECT_EQ(bench.device_status(kCard), kNonFatal);
    EXPECT_EQ(bench.endpoint().armed_faults(), 0U);
  });
}

TEST(PoisonedWrite, OfTheCardIsContainedByThePortAbove) {
  on_bench<TlpFaultBench>([](TlpFaultBench& bench) {
    bench.enable_bus_master();
    bench.chip().write(kBuffer, {1});
    bench.link().drop_next_upstream(pci::kAerPoisoned, 50_us);
    bench.chip().read(kBuffer, 64);
    bench.chip().write(kBuffer + 64, {2});
    bench.chip().write(kBuffer + 128, {3});
    bench.wait(5_us);
    EXPECT_TRUE(bench.link().is_down());
    EXPECT_EQ(bench.link().armed_errors(), 0U);
    // The first write of all that follow has it: only what came before may have arrived.
    EXPECT_TRUE(bench.memory.writes.empty());
    EXPECT_EQ(bench.read(bench.bar(0)), ~0U);
    EXPECT_EQ(bench.aer(kPort, pci::kAerStatus), pci::kAerPoisoned);
    EXPECT_EQ(bench.aer(kPort, pci::kAerHeader + 8), kBuffer >> 32);
    EXPECT_EQ(bench.device_status(kPort), kNonFatal);
    EXPECT_EQ(bench.aer(kPort, pci::kAerRootStatus) & 0x7F, 0x24U);
    bench.wait(60_us);
    EXPECT_FALSE(bench.link().is_down());
    bench.wait(1_ms);
    EXPECT_EQ(bench.config_read(kCard, pci::kVendorId, 2),
              bench.fabric.peek_config(kCard, pci::kVendorId) & 0xFFFF);
    EXPECT_TRUE(bench.memory.writes.empty());
  });
}

class DroppedTlp : public testing::TestWithParam<std::uint32_t> {};

TEST_P(DroppedTlp, ToTheHostIsContained) {
  on_bench<TlpFaultBench>([](TlpFaultBench& bench) {
    const auto bit = GetParam();
    bench.link().drop_next_upstream(bit, 20_us);
    EXPECT_EQ(bench.read(bench.bar(0) + 0x10), ~0U) << "its completion is the one";
    EXPECT_TRUE(bench.link().is_down());
    EXPECT_EQ(bench.aer(kPort, pci::kAerStatus), bit);
    EXPECT_EQ(bench.aer(kPort, pci::kAerHeader) >> 24 & 0x1F, 0x0AU) << "a completion";
    EXPECT_EQ(bench.device_status(kPort), bit == pci::kAerEcrc ? kNonFatal : kFatal);
    bench.wait(30_us);
    EXPECT_FALSE(bench.link().is_down());
  });
}

INSTANTIATE_TEST_SUITE_P(Errors, DroppedTlp,
                         testing::Values(pci::kAerMalformed, pci::kAerEcrc,
                                         pci::kAerReceiverOverflow));

TEST(DroppedRead, OfTheCardEndsWithTheLink) {
  on_bench<TlpFaultBench>([](TlpFaultBench& bench) {
    bench.enable_bus_master();
    bench.link().drop_next_upstream(pci::kAerMalformed, 20_us);
    bench.chip().read(kBuffer, 64);
    bench.wait(5_us);
    ASSERT_EQ(bench.chip().answers.size(), 1U);
    EXPECT_EQ(bench.chip().answers[0].completion, Completion::kCompleterAbort);
    EXPECT_EQ(bench.endpoint().outstanding_reads(), 0U);
  });
}

TEST(UnexpectedCompletion, IsToldByItsReceiverAndHarmsNobody) {
  on_bench<TlpFaultBench>([](TlpFaultBench& bench) {
    const auto usual = bench.read(bench.bar(0) + 0x10);
    for (const auto to : {Towards::kDownstream, Towards::kUpstream}) {
      const bool is_card = to == Towards::kDownstream;
      bench.link().send_stray_completion(to);
      EXPECT_EQ(bench.read(bench.bar(0) + 0x10), usual);
      const auto told = is_card ? kCard : kPort;
      EXPECT_EQ(bench.aer(told, pci::kAerStatus), pci::kAerUnexpectedCompletion);
      EXPECT_EQ(bench.aer(told, pci::kAerCorrectableStatus), pci::kAerAdvisory);
      EXPECT_EQ(bench.device_status(told), kCorrectable);
      if (is_card) {
        EXPECT_EQ(bench.aer(kPort, pci::kAerStatus), 0U);
      }
    }
    EXPECT_FALSE(bench.link().is_down());
    EXPECT_TRUE(bench.lost.empty());
  });
}

struct ToldError {
  Link::Correctable error;
  std::uint32_t bit;
  bool by_sender;
};
class LinkErrors : public testing::TestWithParam<ToldError> {};

TEST_P(LinkErrors, AreToldOnceAtTheEndThatFindsThem) {
  on_bench<TlpFaultBench>([](TlpFaultBench& bench) {
    const auto& each = GetParam();
    bench.link().correctable(Towards::kDownstream, each.error);
    const auto told = each.by_sender ? kPort : kCard, other = each.by_sender ? kCard : kPort;
    EXPECT_EQ(bench.aer(told, pci::kAerCorrectableStatus), each.bit);
    EXPECT_EQ(bench.aer(other, pci::kAerCorrectableStatus), 0U);
    EXPECT_EQ(bench.device_status(told), kCorrectable);
    const auto at = bench.find_extended(told, pci::kExtAer) + pci::kAerCorrectableStatus;
    bench.config_write(told, at, each.bit);
    EXPECT_EQ(bench.aer(told, pci::kAerCorrectableStatus), 0U);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Each, LinkErrors,
    testing::Values(ToldError{Link::Correctable::kReceiver, pci::kAerReceiverError, false},
                    ToldError{Link::Correctable::kBadDllp, pci::kAerBadDllp, false},
                    ToldError{Link::Correctable::kTimeout, pci::kAerReplayTimeout, true}));

// Four times the TLP and its Nak, each with the way there and back, then Recovery.
TEST(LinkError, ARolloverTakesFourRepliesAndRecovery) {
  on_bench<TlpFaultBench>([](TlpFaultBench& bench) {
    const auto time = [&bench] {
      const auto begin = model::sim_now();
      bench.read(bench.bar(0) + 0x10);
      return model::sim_now() - begin;
    };
    const auto usual = time();
    bench.link().correctable(Towards::kDownstream, Link::Correctable::kRollover);
    EXPECT_EQ(time(), usual + 4 * (2 * 50'000 + wire(8) + wire(24)) + 10'000'000);
    EXPECT_EQ(time(), usual);
    EXPECT_EQ(bench.aer(kPort, pci::kAerCorrectableStatus), pci::kAerReplayRollover);
    EXPECT_EQ(bench.aer(kCard, pci::kAerCorrectableStatus), pci::kAerBadTlp);
  });
}

}  // namespace
}  // namespace npu::test
