// SPDX-License-Identifier: Apache-2.0
// Translations that the host takes back, spaces that share no longer, reset.
#include "tests/bench/ats/ats_bench.hpp"

namespace npu::test {
namespace {

using platform::PageResponse;
using AtsInvalidation = OnBench<AtsBench>;

TEST_F(AtsInvalidation, DropsTranslations) {
  bench.host.pages[kVirtual];
  bench.read(kVirtual);
  EXPECT_FALSE(bench.pages.invalidate(0, 5));
  bench.run(1_us);
  EXPECT_EQ(bench.invalidated, std::vector<std::uint64_t>{5});
  bench.read(kVirtual);
  EXPECT_EQ(bench.host.translations.size(), 2U);
}

TEST_F(AtsInvalidation, OfAFunctionThatSharesNothingIsOverAtOnce) {
  bench.pages.function_reset(0);
  EXPECT_TRUE(bench.pages.invalidate(0, 5));
}

// A read is answered kRead after it left: not over a picosecond before, over then.
TEST_F(AtsInvalidation, IsOverWhenNoAccessIsInFlight) {
  bench.host.pages[kVirtual];
  bench.read(kVirtual);
  bench.issue(false, kShared, kVirtual);
  EXPECT_FALSE(bench.pages.invalidate(0, 5));
  bench.run(Picoseconds(HostSide::kRead - 1));
  EXPECT_TRUE(bench.invalidated.empty());
  bench.run(2_ps);
  EXPECT_EQ(bench.invalidated.size(), 1U);
}

TEST_F(AtsInvalidation, ThatComesMeanwhileIsOneOfItsOwn) {
  bench.host.pages[kVirtual];
  bench.read(kVirtual);
  bench.issue(false, kShared, kVirtual);
  EXPECT_FALSE(bench.pages.invalidate(0, 1));
  bench.run(100_ns);
  EXPECT_FALSE(bench.pages.invalidate(0, 2));
  EXPECT_FALSE(bench.pages.invalidate(0, 3));
  bench.run(Picoseconds(HostSide::kRead) - 99_ns);
  EXPECT_EQ(bench.invalidated, std::vector<std::uint64_t>{1});
  bench.run(1_us);
  EXPECT_EQ(bench.invalidated, (std::vector<std::uint64_t>{1, 2, 3}));
}

// The answer was true when the host gave it.
TEST_F(AtsInvalidation, MakesAnAnswerOnItsWayWorthless) {
  bench.host.pages[kVirtual];
  bench.issue(false, kShared, kVirtual);
  while (bench.host.translations.empty()) bench.run(1_ns);
  bench.pages.invalidate(0, 1);
  bench.run(5_us);
  EXPECT_EQ(bench.host.translations.size(), 2U);
  EXPECT_EQ(bench.host.pieces.size(), 1U);
}

TEST_F(AtsInvalidation, IsDrainedAlsoWhenTheSpaceSharesNoLonger) {
  bench.host.pages[kVirtual];
  bench.read(kVirtual);
  const auto id = bench.issue(false, kShared, kVirtual);
  bench.share(false);
  EXPECT_FALSE(bench.pages.invalidate(0, 1));
  bench.run(Picoseconds(HostSide::kRead - 1));
  EXPECT_TRUE(bench.invalidated.empty());
  bench.run(1_us);
  EXPECT_EQ(bench.invalidated.size(), 1U);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
}

TEST(SharedSpace, ThatSharesNoLongerFailsWhatWaitsAndSaysSo) {
  AtsBench bench;
  const auto waiting = bench.issue(false, kShared, kVirtual);
  bench.run(5_us);
  bench.share(false);
  bench.run(1_us);
  EXPECT_EQ(bench.response(waiting).completion, Completion::kNotMapped);
  ASSERT_EQ(bench.host.asked.size(), 2U);
  const auto& marker = bench.host.asked[1].message;
  EXPECT_TRUE(marker.last && !marker.read && !marker.write);
  EXPECT_TRUE(bench.respond(bench.host.asked[0], PageResponse::kSuccess)) << "still expected";
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kNotMapped);
}

TEST(SharedSpace, IsGoneAfterAReset) {
  AtsBench bench;
  bench.host.pages[kVirtual];
  bench.read(kVirtual);
  const auto reading = bench.issue(false, kShared, kVirtual);
  const auto waiting = bench.issue(false, kShared, kVirtual + kPage);
  bench.pages.invalidate(0, 1);
  bench.run(500_ns);
  bench.mmu.function_reset(0);
  bench.pages.function_reset(0);
  bench.run(5_us);
  EXPECT_EQ(bench.invalidated.size(), 1U);
  EXPECT_TRUE(bench.answered(reading));
  EXPECT_EQ(bench.response(waiting).completion, Completion::kCompleterAbort);
  EXPECT_FALSE(bench.pages.shares(kShared));
}

}  // namespace
}  // namespace npu::test
