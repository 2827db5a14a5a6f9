// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/filter.hpp"

#include <gtest/gtest.h>

#include <random>

#include "npu/base/text.hpp"

namespace npu::timeline {
namespace {

using platform::Activity;

TEST(TimelineFilter, ReadsWindowsExactly) {
  Filter filter;
  ASSERT_TRUE(filter.set_window("10us..2.5ms"));
  EXPECT_EQ(filter.begin, Instant(10_us));
  EXPECT_EQ(filter.end, Instant(2500_us));
  ASSERT_TRUE(filter.set_window("0.001ns..1s"));
  EXPECT_EQ(filter.begin, Instant(1_ps));
  EXPECT_EQ(filter.end, Instant(1_s));
}

TEST(TimelineFilter, HasWindowsOpenOnOneSide) {
  Filter to, from;
  ASSERT_TRUE(to.set_window("..1ms"));
  EXPECT_EQ(to.begin, Instant());
  EXPECT_EQ(to.end, Instant(1_ms));
  ASSERT_TRUE(from.set_window("3.50us.."));
  EXPECT_EQ(from.begin, Instant(3500_ns));
  EXPECT_EQ(from.end, Instant::never());
}

TEST(TimelineFilter, KnowsTheUnitsThatNothingIsLike) {
  const std::vector<std::string> tracks{"host.cpu0", "card0.dma.engine1"};
  Filter filter;
  EXPECT_EQ(filter.unknown_unit(tracks), "");
  filter.units = {"card0.dma*", "aicore", "mmio_*", "*"};
  EXPECT_EQ(filter.unknown_unit(tracks), "");
  filter.units.insert(filter.units.begin() + 2, "card1.dma*");
  EXPECT_EQ(filter.unknown_unit(tracks), "card1.dma*");
  EXPECT_EQ(filter.unknown_unit({}), "card0.dma*");
}

TEST(TimelineFilter, RefusesWhatIsNoWindow) {
  for (const char* text : {"",
                           ".",
                           "..",
                           "...",
                           "1us",
                           "1..2",
                           "1us..1us",
                           "2us..1us",
                           "..0ns",
                           "-1us..2us",
                           "1us..2",
                           "1 us..2us",
                           "1u..2us",
                           "us..",
                           ".5us..1us",
                           "1.2.3us..9us",
                           "0.0001ns..1us",
                           "..99999999999999999999s",
                           "..9000000s",
                           "1us..2us..3us",
                           "1US..2US",
                           "1e3ns..2us"}) {
    Filter filter;
    EXPECT_FALSE(filter.set_window(text)) << text;
  }
}

TEST(TimelineFilter, CoversWhatReachesIntoTheWindow) {
  Filter filter;
  ASSERT_TRUE(filter.set_window("10ps..20ps"));
  const auto covers = [&](std::int64_t begin, std::int64_t end) {
    platform::TraceEvent event;
    event.begin = Instant(Picoseconds(begin));
    event.end = Instant(Picoseconds(end));
    return filter.covers(event);
  };
  EXPECT_FALSE(covers(0, 9));
  EXPECT_TRUE(covers(0, 10));
  EXPECT_TRUE(covers(0, 99));
  EXPECT_TRUE(covers(12, 12));
  EXPECT_TRUE(covers(19, 30));
  EXPECT_FALSE(covers(20, 30));
}

TEST(TimelineFilter, CoversCausesAndUnitsByName) {
  Filter filter;
  EXPECT_TRUE(filter.is_all());
  filter.causes = {platform::dma_cause(0, 1), platform::dma_cause(0, 2)};
  EXPECT_FALSE(filter.is_all());
  EXPECT_TRUE(filter.covers_cause(platform::dma_cause(0, 2)));
  EXPECT_FALSE(filter.covers_cause(platform::dma_cause(0, 3)));
  EXPECT_FALSE(filter.covers_cause(0));
  filter.units = {"card0.dma*", "mmio_read", "hbm"};
  EXPECT_TRUE(filter.covers("card0.dma.engine1", Activity::kTlp));
  EXPECT_TRUE(filter.covers("host.mmio", Activity::kMmioRead));
  EXPECT_TRUE(filter.covers("card1.hbm", Activity::kHbmWrite));
  EXPECT_FALSE(filter.covers("card1.dma.engine1", Activity::kCommand));
}

// Character by character, every length of each `*`.
bool matches_slowly(const std::string& pattern, const std::string& text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') {
    return !text.empty() && pattern[0] == text[0] &&
           matches_slowly(pattern.substr(1), text.substr(1));
  }
  for (std::size_t length = 0; length <= text.size(); ++length) {
    if (matches_slowly(pattern.substr(1), text.substr(length))) return true;
  }
  return false;
}

TEST(TimelineFilter, MatchesAsTryingEveryLengthDoes) {
  std::mt19937_64 random(4);
  const auto draw = [&random](const std::string& letters, std::size_t most) {
    std::string text(random() % (most + 1), ' ');
    for (auto& letter : text) letter = letters[random() % letters.size()];
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const auto pattern = draw("ab**", 6), text = draw("ab", 7);
    ASSERT_EQ(matches(pattern, text), matches_slowly(pattern, text)) << pattern << " " << text;
  }
}

}  // namespace
}  // namespace npu::timeline
