// SPDX-License-Identifier: Apache-2.0
// Pages that go to and fro: which faults wait, and when the page is pinned.
#include "driver/managed/page_thrash.hpp"

#include <gtest/gtest.h>

namespace npu::driver {
namespace {

using Verdict = PageThrash::Verdict;
constexpr Picoseconds kLapse = 500_us;

constexpr Instant at_us(std::int64_t us) {
  return Instant(Picoseconds(us * 1'000'000));
}

TEST(PageThrash, TheThirdFaultInARowWaits) {
  PageThrash page;
  EXPECT_EQ(page.wanted(at_us(0), kLapse), Verdict::kServe);
  std::vector<Verdict> verdicts;
  for (int i = 1; i <= 6; ++i) {
    page.left(at_us(100 * i));
    verdicts.push_back(page.wanted(at_us(100 * i + 50), kLapse));
  }
  EXPECT_EQ(verdicts, (std::vector<Verdict>{Verdict::kServe, Verdict::kServe, Verdict::kWait,
                                            Verdict::kServe, Verdict::kServe, Verdict::kWait}));
}

TEST(PageThrash, FaultsThatAreFarApartAreNone) {
  PageThrash page;
  for (int i = 1; i <= 50; ++i) {
    page.left(at_us(1000 * i));
    EXPECT_EQ(page.wanted(at_us(1000 * i + 499), kLapse), Verdict::kServe) << "its first in a row";
  }
  for (int i = 1; i <= 50; ++i) {
    page.left(at_us(100'000 + 400 * i));
    EXPECT_EQ(page.wanted(at_us(100'000 + 400 * i + 500), kLapse), Verdict::kServe)
        << "away for long";
  }
}

TEST(PageThrash, AfterTenWaitsItIsPinned) {
  PageThrash page;
  unsigned waits = 0;
  std::int64_t now = 0;
  for (;;) {
    now += 100;
    page.left(at_us(now));
    const auto verdict = page.wanted(at_us(now + 10), kLapse);
    if (verdict == Verdict::kPin) break;
    waits += verdict == Verdict::kWait ? 1 : 0;
    ASSERT_LE(waits, 10U);
  }
  EXPECT_EQ(waits, 10U);
  EXPECT_TRUE(page.pinned(at_us(now + 10 + 300 * 500 - 1)));
  EXPECT_FALSE(page.pinned(at_us(now + 10 + 300 * 500)));
}

}  // namespace
}  // namespace npu::driver
