// SPDX-License-Identifier: Apache-2.0
// A card that is reset between any two configuration accesses of whoever looks at it.
#include <gtest/gtest.h>

#include "npu/abi/pci.hpp"
#include "npu/driver/scan.hpp"
#include "tests/support/fake/fake_platform.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

constexpr std::uint64_t kMostAccesses = 200;  // more than a scan makes

// How long the reset lasts, in accesses that nobody answers.
class ProbeReset : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    test::FakeCardConfig config;
    config.bdf = {0, 1, 0};
    fake.add_card(config);
    found = scan(fake)->cards.at(0);
  }
  void scan_with_reset(std::uint64_t at) {
    test::FakePci::Reset reset;
    reset.bdf = found.bdf();
    reset.at = at;
    reset.unanswered = GetParam();
    fake.fake_pci.reset = reset;
    static_cast<void>(scan(fake));
  }
  bool was_reset() const { return fake.fake_pci.reset.accesses > fake.fake_pci.reset.at; }
  void expect_found_again() {
    fake.fake_pci.reset = {};
    const auto again = scan(fake);
    ASSERT_THAT(again, test::IsOk());
    ASSERT_EQ(again->cards.size(), 1U);
    for (const std::size_t bar : {0, 2}) {
      EXPECT_EQ(again->cards[0].bars[bar].base, found.bars[bar].base);
      EXPECT_EQ(again->cards[0].bars[bar].size, found.bars[bar].size);
    }
  }
  std::uint16_t command() { return fake.fake_pci.read16(found.bdf(), abi::pci::kCommand); }

  test::FakePlatform fake;
  CardInfo found;
};

TEST_P(ProbeReset, LeavesTheAddressesAsTheyWere) {
  std::uint64_t resets = 0;
  for (std::uint64_t at = 0; at < kMostAccesses && !HasFailure(); ++at) {
    SCOPED_TRACE(at);
    scan_with_reset(at);
    if (was_reset()) ++resets;
    expect_found_again();
  }
  EXPECT_GT(resets, 20U);
  EXPECT_LT(resets, kMostAccesses);
}

TEST_P(ProbeReset, SwitchesNothingOnThatWasOff) {
  for (std::uint64_t at = 0; at < kMostAccesses; ++at) {
    scan_with_reset(at);
    fake.fake_pci.reset = {};
    EXPECT_EQ(command() & ~abi::pci::kCommandMemory, 0) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Unanswered, ProbeReset, testing::Values(0, 1, 2, 3, 4, 5, 8, 30));

}  // namespace
}  // namespace npu::driver
