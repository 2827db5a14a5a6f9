// SPDX-License-Identifier: Apache-2.0
// Who is to have the time slice, and the window of launches: arithmetic without a card.
#include "driver/time_slices/ledger.hpp"

#include <gtest/gtest.h>

#include <random>

#include "driver/time_slices/launch_window.hpp"

namespace npu::driver {
namespace {

TimeSliceOptions with(SharingPolicy policy) {
  TimeSliceOptions options;
  options.policy = policy;
  return options;
}

class TimeSliceLedgerTest : public testing::Test {
 protected:
  void ask(TimeSliceLedger& ledger, unsigned client, Picoseconds when = {}) {
    ledger.of(client).waiting = true;
    ledger.of(client).asked = Instant{} + when;
  }
  TimeSliceLedger fixed{with(SharingPolicy::kFixedQuota)};
  TimeSliceLedger elastic{with(SharingPolicy::kElastic)};
};

TEST_F(TimeSliceLedgerTest, SumsAboveAHundredAreScaledDown) {
  fixed.add(0, {80, kWholeToken});
  EXPECT_EQ(fixed.budget(fixed.of(0)), 1'600_us);
  fixed.add(1, {120 - 80, kWholeToken});
  EXPECT_EQ(fixed.of(0).quota_ppm, 666'666U);
  EXPECT_EQ(fixed.of(1).quota_ppm, 333'333U);
  fixed.remove(1);
  EXPECT_EQ(fixed.budget(fixed.of(0)), 1'600_us);
}

TEST_F(TimeSliceLedgerTest, ATokenIsAHardCap) {
  fixed.add(0, {100, 0});
  fixed.add(1, {0, kWholeToken});
  ask(fixed, 0);
  ask(fixed, 1);
  EXPECT_EQ(fixed.next(), std::nullopt);
  elastic.add(0, {100, 16'384});
  ask(elastic, 0);
  EXPECT_EQ(elastic.next(), 0U);
  elastic.of(0).used = 600_us;  // a quarter and more
  EXPECT_EQ(elastic.next(), std::nullopt);
}

TEST_F(TimeSliceLedgerTest, TheCardsTokenIsWhatAllTogetherHave) {
  fixed.add(0, {80, kWholeToken});
  fixed.add(1, {20, 3'277});  // five percent
  fixed.set_card_token(32'768);
  EXPECT_EQ(fixed.of(0).quota_ppm, 400'005U);
  EXPECT_EQ(fixed.of(1).effective_ppm(), 50'003U) << "its own is less";
  fixed.remove(0);
  fixed.add(0, {30, kWholeToken});
  EXPECT_EQ(fixed.of(0).quota_ppm, 300'000U) << "there is room for all";
  fixed.set_card_token(kWholeToken);
  EXPECT_EQ(fixed.of(0).quota_ppm, 300'000U);
}

TEST_F(TimeSliceLedgerTest, NobodyHasWhatIsBeyondTheCardsToken) {
  elastic.add(0, {50, kWholeToken});
  elastic.add(1, {50, kWholeToken});
  elastic.set_card_token(16'384);  // 500 us
  elastic.charge(0, 450_us, 450_us);
  ask(elastic, 1);
  EXPECT_EQ(elastic.next(), 1U);
  EXPECT_LT(elastic.left(1), 51_us) << "its quota is not used up";
  elastic.charge(1, 100_us, 70_us);
  EXPECT_EQ(elastic.next(), std::nullopt);
  elastic.roll(std::nullopt);
  EXPECT_EQ(elastic.next(), 1U);
  EXPECT_LT(elastic.left(1), 451_us) << "of what was too much the next window is less";
}

TEST_F(TimeSliceLedgerTest, WithACardsTokenOfZeroNothingRuns) {
  for (auto* const ledger : {&fixed, &elastic}) {
    ledger->add(0, {100, kWholeToken});
    ledger->set_card_token(0);
    ask(*ledger, 0);
    EXPECT_EQ(ledger->next(), std::nullopt);
    ledger->roll(std::nullopt);
    EXPECT_EQ(ledger->next(), std::nullopt);
  }
}

TEST_F(TimeSliceLedgerTest, FirstComesWhoHasHadTheLeastOfItsShare) {
  fixed.add(0, {30, kWholeToken});
  fixed.add(1, {70, kWholeToken});
  ask(fixed, 0);
  ask(fixed, 1);
  fixed.of(0).used = 300_us;
  fixed.of(1).used = 600_us;
  EXPECT_EQ(fixed.next(), 1U);
  fixed.of(1).used = 800_us;
  EXPECT_EQ(fixed.next(), 0U);
  fixed.of(0).used = 600_us;
  fixed.of(1).used = 1'400_us;
  EXPECT_EQ(fixed.next(), std::nullopt);
}

TEST_F(TimeSliceLedgerTest, OfEqualOnesTheOneThatAskedFirst) {
  fixed.add(0, {50, kWholeToken});
  fixed.add(1, {50, kWholeToken});
  ask(fixed, 0, 2_us);
  ask(fixed, 1, 1_us);
  EXPECT_EQ(fixed.next(), 1U);
}

TEST_F(TimeSliceLedgerTest, ElasticGivesWhatOthersLeaveUntilTheyWantIt) {
  elastic.add(0, {30, kWholeToken});
  elastic.add(1, {70, kWholeToken});
  elastic.of(0).used = 1'000_us;
  ask(elastic, 0);
  EXPECT_EQ(elastic.next(), 0U);
  elastic.of(0).waiting = false;  // it has the time slice
  EXPECT_FALSE(elastic.must_yield(0));
  EXPECT_EQ(elastic.left(0), 1'000_us);
  ask(elastic, 1);
  EXPECT_TRUE(elastic.must_yield(0));
  EXPECT_LT(elastic.left(0), Picoseconds{});
}

TEST_F(TimeSliceLedgerTest, AnOverrunAndAWaitGoOnUpToAPartOfTheWindow) {
  fixed.add(0, {30, kWholeToken});
  fixed.add(1, {30, kWholeToken});
  fixed.add(2, {30, kWholeToken});
  fixed.of(0).used = 700_us;
  fixed.of(1).used = 2'000_us;
  ask(fixed, 2);
  fixed.roll(std::nullopt);
  EXPECT_EQ(fixed.of(0).used, 100_us);
  EXPECT_EQ(fixed.of(0).debt, 100_us);
  EXPECT_EQ(fixed.of(1).used, 500_us);
  EXPECT_EQ(fixed.of(2).used, Picoseconds{} - 500_us);
  EXPECT_EQ(fixed.of(2).debt, Picoseconds{});
  fixed.of(0).used = 50_us;  // and does not want more
  fixed.roll(std::nullopt);
  EXPECT_EQ(fixed.of(0).used, Picoseconds{});
}

TEST_F(TimeSliceLedgerTest, WhoIsAloneWithEverythingIsNotLookedAt) {
  fixed.add(0, {100, kWholeToken});
  EXPECT_TRUE(fixed.unlimited(0));
  fixed.add(1, {0, kWholeToken});
  EXPECT_TRUE(fixed.unlimited(0));
  ask(fixed, 1);
  EXPECT_FALSE(fixed.unlimited(0));
  fixed.set_quota(0, {99, kWholeToken});
  fixed.of(1).waiting = false;
  EXPECT_FALSE(fixed.unlimited(0));
}

// Whatever shares and kernels: over many windows nobody has more than its quota and a kernel.
TEST_F(TimeSliceLedgerTest, NobodyHasMoreThanItsShareInTheLongRun) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    TimeSliceLedger ledger(with(SharingPolicy::kFixedQuota));
    const unsigned clients = 1 + static_cast<unsigned>(random() % 6);
    std::vector<Picoseconds> kernel(clients), had(clients);
    for (unsigned i = 0; i < clients; ++i) {
      ledger.add(i, {1 + static_cast<unsigned>(random() % 60), kWholeToken});
      kernel[i] = static_cast<std::int64_t>(1 + random() % 400) * 1_us;
    }
    constexpr std::int64_t kWindows = 200;
    for (std::int64_t window = 0; window < kWindows; ++window) {
      for (Picoseconds at; at < 2'000_us;) {
        for (unsigned i = 0; i < clients; ++i) ask(ledger, i);
        const auto next = ledger.next();
        if (!next) break;
        ledger.of(*next).waiting = false;
        while (ledger.left(*next) > Picoseconds{} && at < 2'000_us) {
          ledger.of(*next).used += kernel[*next];
          had[*next] += kernel[*next];
          at += kernel[*next];
        }
      }
      for (unsigned i = 0; i < clients; ++i) ask(ledger, i);
      ledger.roll(std::nullopt);
    }
    for (unsigned i = 0; i < clients; ++i) {
      const auto quota = ledger.budget(ledger.of(i)) * kWindows;
      EXPECT_LE(had[i], quota + 500_us + kernel[i]) << "seed " << seed << ", client " << i;
    }
  }
}

TEST(LaunchWindow, GrowsByANumberAndShrinksToAPart) {
  LaunchWindowOptions options;
  options.start = 4;
  options.grow = 2;
  options.target = 10_us;
  LaunchWindow window(options);
  Instant now;
  const auto pass = [&](unsigned count, Picoseconds each) {
    for (unsigned i = 0; i < count; ++i) {
      const Instant begin = now;
      now = now + each;
      window.note(begin, now);
    }
  };
  pass(3, 10_us);
  EXPECT_EQ(window.size(), 4U);
  pass(1, 10_us);
  EXPECT_EQ(window.size(), 6U);
  pass(1, 11_us);
  EXPECT_EQ(window.size(), 3U);
  pass(5, 1_ms);
  EXPECT_EQ(window.size(), 1U);
  pass(1, 1_us);
  EXPECT_EQ(window.size(), 3U);
}

TEST(LaunchWindow, LaunchesFromBeforeAChangeSayNothing) {
  LaunchWindowOptions options;
  options.start = 64;
  options.target = 10_us;
  LaunchWindow window(options);
  const Instant begin, late = begin + 20_us;
  for (unsigned i = 0; i < 64; ++i) window.note(begin, late);
  EXPECT_EQ(window.size(), 32U);
}

TEST(LaunchWindow, StaysWithinItsBounds) {
  LaunchWindowOptions options;
  options.start = 100;
  options.floor = 3;
  options.most = 8;
  options.target = 10_us;
  LaunchWindow window(options);
  EXPECT_EQ(window.size(), 8U);
  Instant now;
  for (unsigned i = 0; i < 100; ++i, now = now + 100_us) window.note(now, now + 1_us);
  EXPECT_EQ(window.size(), 8U);
  for (unsigned i = 0; i < 10; ++i, now = now + 100_us) window.note(now, now + 11_us);
  EXPECT_EQ(window.size(), 3U);
}

}  // namespace
}  // namespace npu::driver
