// SPDX-License-Identifier: Apache-2.0
// Enumeration: topologies, cost, and junk that must be refused (pcie.md F15).
#include "npu/driver/scan.hpp"

#include <gtest/gtest.h>

#include "npu/abi/registers.hpp"
#include "tests/support/fake/fake_platform.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

namespace pci = abi::pci;
using platform::Bdf;
using test::FailsWith;
using test::IsOk;
using test::must;

constexpr unsigned kRootPort = 4, kUpstream = 5, kDownstream = 6;

// 00:01.0 root port -> switch on buses 1..4 with cards behind 02:00.0 and 02:02.0, an empty slot
// behind 02:01.0; 00:02.0 an empty root port; 80: a second host bridge with a card.
class ScanTest : public testing::Test {
 protected:
  void SetUp() override {
    auto& pci = fake.fake_pci;
    pci.bridges = {{0x00, 0x7F, 0}, {0x80, 0xFF, 1}};
    pci.add_bridge({0, 1, 0}, 1, 5, kRootPort);
    pci.add_bridge({1, 0, 0}, 2, 5, kUpstream);
    pci.add_bridge({2, 0, 0}, 3, 3, kDownstream);
    pci.add_bridge({2, 1, 0}, 4, 4, kDownstream);
    pci.add_bridge({2, 2, 0}, 5, 5, kDownstream);
    pci.add_bridge({0, 2, 0}, 6, 6, kRootPort);
    pci.add_bridge({0x80, 0, 0}, 0x81, 0x81, kRootPort);
    add_card({3, 0, 0}, 0);
    add_card({5, 0, 0}, 1);
    add_card({0x81, 0, 0}, 2);
    // A multi-function device with a gap: functions 0 and 3.
    for (const std::uint8_t function : {std::uint8_t{0}, std::uint8_t{3}}) {
      auto& added = pci.add({0, 5, function});
      added.set_header(0x8086, 0x1234, function == 0 ? pci::kHeaderMultiFunction : 0);
    }
  }
  void add_card(Bdf bdf, std::uint32_t index) {
    test::FakeCardConfig config;
    config.bdf = bdf;
    config.index = index;
    fake.add_card(config);
  }
  test::FakeFunction& card_function() { return *fake.fake_pci.find({3, 0, 0}); }
  Error refusal() {
    const auto result = scan(fake);
    EXPECT_THAT(result, IsOk());
    EXPECT_EQ(result->cards.size(), 2U);
    EXPECT_EQ(result->refused.size(), 1U);
    return result->refused.empty() ? Error{} : result->refused[0].error;
  }
  void expect_refused(const std::string& text) {
    const Error error = refusal();
    EXPECT_EQ(error.code, ErrorCode::kBadDevice);
    EXPECT_NE(error.context.find(text), std::string::npos) << error.context;
  }

  test::FakePlatform fake;
};

TEST_F(ScanTest, FindsEveryFunctionInOrder) {
  const auto result = must(scan(fake));
  std::vector<std::string> found;
  for (const auto& function : result.functions) found.push_back(to_string(function.bdf));
  EXPECT_EQ(found, (std::vector<std::string>{"00:01.0", "00:02.0", "00:05.0", "00:05.3", "01:00.0",
                                             "02:00.0", "02:01.0", "02:02.0", "03:00.0", "05:00.0",
                                             "80:00.0", "81:00.0"}));
}

TEST_F(ScanTest, ReadsOfACardWhatIsRequired) {
  const auto result = must(scan(fake));
  ASSERT_EQ(result.cards.size(), 3U);
  const auto& card = result.cards[2];
  EXPECT_EQ(card.function.vendor_id, 0x19E5);
  EXPECT_EQ(card.function.device_id, 0xD110);
  EXPECT_EQ(to_string(card.bdf()), "81:00.0");
  EXPECT_EQ(card.register_bar().size, 32_KiB);
  EXPECT_EQ(card.memory_bar().size, 64_GiB);
  EXPECT_EQ(card.memory_bar().base, 0x40'0000'0000 + 2 * 0x20'0000'0000);
  EXPECT_TRUE(card.memory_bar().prefetchable);
  EXPECT_EQ(card.numa_node(), 1);
  EXPECT_EQ(card.ai_cores, 64U);
  EXPECT_EQ(card.hbm_size, 56_GiB);
  EXPECT_EQ(card.device_index, 2U);
  EXPECT_EQ(card.msix.vectors, 128U);
}

TEST_F(ScanTest, TheExhaustiveScanFindsTheSame) {
  ScanOptions everything;
  everything.exhaustive = true;
  const auto quick = scan(fake);
  const auto full = must(scan(fake, everything));
  ASSERT_EQ(quick->functions.size(), full.functions.size());
  for (std::size_t i = 0; i < quick->functions.size(); ++i) {
    EXPECT_EQ(quick->functions[i].bdf, full.functions[i].bdf);
    EXPECT_EQ(quick->functions[i].numa_node, full.functions[i].numa_node);
  }
  EXPECT_EQ(quick->cards.size(), full.cards.size());
  EXPECT_GE(full.config_reads, 65'536U);
}

// 32 devices on each of the buses 00, 02 (behind the switch) and 80, one behind each link; some
// twenty reads per function found. An absent bus or function is not probed.
TEST_F(ScanTest, IsQuickBecauseItDoesNotProbeWhatIsAbsent) {
  ScanOptions options;
  options.read_registers = false;
  const auto result = must(scan(fake, options));
  EXPECT_LT(result.config_reads, 3 * 32 + 7 + 14 + 12 * 20U);
}

TEST_F(ScanTest, SizesBarsWithDecodingOffAndRestoresThem) {
  card_function().set(pci::kCommand, 2, pci::kCommandMemory);
  const auto before = card_function().get(pci::kBar0 + 8, 4);
  ASSERT_THAT(scan(fake), IsOk());
  EXPECT_EQ(fake.fake_pci.ones_into_bar_while_decoding, 0U);
  EXPECT_EQ(card_function().get(pci::kCommand, 2), pci::kCommandMemory);
  EXPECT_EQ(card_function().get(pci::kBar0 + 8, 4), before);
}

TEST_F(ScanTest, LeavesDecodingOffIfItWasOff) {
  ASSERT_THAT(scan(fake), IsOk());
  EXPECT_EQ(card_function().get(pci::kCommand, 2), 0U);
}

TEST_F(ScanTest, RefusesABar0ThatIsTooSmall) {
  card_function().set_bar(0, 0xC0000000, 16_KiB, pci::kBarType64);
  expect_refused("BAR0 has 16384 bytes, at least 32768");
}

TEST_F(ScanTest, RefusesABarSizeThatIsNoPowerOfTwo) {
  card_function().set_writable(pci::kBar0, 0xFFFD0000);
  expect_refused("BAR0 answers");
}

TEST_F(ScanTest, RefusesA32BitBar2) {
  card_function().set_bar(2, 0x80000000, 1_GiB, 0);
  expect_refused("BAR2 is not 64 bits wide");
}

TEST_F(ScanTest, RefusesAnUnassignedBar) {
  card_function().set_bar(0, 0, 32_KiB, pci::kBarType64);
  expect_refused("BAR0 has no address");
}

TEST_F(ScanTest, RefusesAnMsixTableOutsideItsBar) {
  const auto msix = fake.card({3, 0, 0})->msix_capability();
  card_function().set(msix + pci::kMsixTable, 4, 0x7C00);
  expect_refused("table (2048 bytes at 0x7c00) lies outside BAR0");
}

TEST_F(ScanTest, RefusesAnMsixTableThatOverlapsItsPendingBits) {
  const auto msix = fake.card({3, 0, 0})->msix_capability();
  card_function().set(msix + pci::kMsixPba, 4, 0x67F8);
  expect_refused("overlap");
}

TEST_F(ScanTest, RefusesAnMsixTableInABarThatDoesNotExist) {
  const auto msix = fake.card({3, 0, 0})->msix_capability();
  card_function().set(msix + pci::kMsixTable, 4, 0x6000 | 4);
  expect_refused("BAR4, which is no memory BAR");
}

TEST_F(ScanTest, RefusesTooFewVectors) {
  const auto msix = fake.card({3, 0, 0})->msix_capability();
  card_function().set(msix + pci::kMsixControl, 2, 126);
  expect_refused("127 MSI-X vectors, at least 128");
}

TEST_F(ScanTest, RefusesAForeignSubsystemVendor) {
  card_function().set(pci::kSubsystemVendor, 2, 0x1AF4);
  expect_refused("subsystem vendor 0x1af4");
}

TEST_F(ScanTest, RefusesACapabilityListThatLoops) {
  card_function().set(0x41, 1, 0x40);  // MSI-X points to itself; what is searched is behind it
  card_function().set(0x40, 1, 0x09);
  expect_refused("loops at 0x40");
}

TEST_F(ScanTest, RefusesACapabilityInsideTheHeader) {
  card_function().set(pci::kCapabilityPointer, 1, 0x10);
  expect_refused("inside the header");
}

TEST_F(ScanTest, RefusesRegistersThatContradictTheBars) {
  fake.card({3, 0, 0})->set_register(0x10, 8, 64_GiB);
  expect_refused("HBM_SIZE");
}

TEST_F(ScanTest, RefusesAnotherAbiVersion) {
  fake.card({3, 0, 0})->set_register(0x04, 4, abi::kAbiVersion + 1);
  EXPECT_EQ(refusal().code, ErrorCode::kUnsupported);
}

TEST_F(ScanTest, StepsOverBridgesThatLeadBackwards) {
  fake.fake_pci.add_bridge({0, 3, 0}, 0, 0, kRootPort);  // not configured: no complaint
  fake.fake_pci.add_bridge({0x80, 1, 0}, 0x80, 0x80, kRootPort);
  fake.fake_pci.add_bridge({0x80, 2, 0}, 0x81, 0x81, kRootPort);  // somebody else's bus
  const auto result = must(scan(fake));
  EXPECT_EQ(result.cards.size(), 3U);
  ASSERT_EQ(result.refused.size(), 2U);
  EXPECT_EQ(to_string(result.refused[0].bdf), "80:01.0");
}

TEST_F(ScanTest, ReportsAnUnknownHeaderType) {
  fake.fake_pci.add({0, 9, 0}).set_header(0x1234, 0x5678, 0x05);
  const auto result = scan(fake);
  ASSERT_EQ(result->refused.size(), 1U);
  EXPECT_THAT(result->refused[0].error.context, testing::HasSubstr("unknown header type"));
}

TEST_F(ScanTest, ProbeTellsAbsentForeignAndUsableApart) {
  EXPECT_THAT(probe(fake, {4, 0, 0}), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(probe(fake, {0, 5, 0}), FailsWith(ErrorCode::kUnsupported, "8086:1234"));
  EXPECT_THAT(probe(fake, {5, 0, 0}), IsOk());
}

}  // namespace
}  // namespace npu::driver
