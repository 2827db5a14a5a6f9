// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/rates.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace npu::timeline {
namespace {

using platform::Activity;

platform::TraceEvent moved(Activity activity, std::int64_t begin, std::int64_t end,
                           std::uint64_t bytes, std::uint64_t detail = 0) {
  platform::TraceEvent event;
  event.begin = Instant(Picoseconds(begin));
  event.end = Instant(Picoseconds(end));
  event.bytes = bytes;
  event.detail = detail;
  event.track = 1;
  event.activity = activity;
  return event;
}

// Bytes of a series: a sample holds until the next; MB/s are bytes per 10^6 ps.
std::map<std::string, double> amounts(const Rates& rates) {
  std::map<std::string, double> sums;
  std::map<std::string, Rates::Sample> last;
  rates.for_each([&](const Rates::Sample& sample) {
    if (const auto before = last.find(sample.what); before != last.end()) {
      const auto time = static_cast<double>((sample.when - before->second.when).count());
      sums[sample.what] += static_cast<double>(before->second.value) * time / 1e6;
    }
    last[sample.what] = sample;
  });
  for (const auto& [what, sample] : last) EXPECT_EQ(sample.value, 0U) << "ends at rest: " << what;
  return sums;
}

TEST(Rates, KeepTheirBytesWhenWindowsDouble) {
  std::mt19937_64 random(10);
  Rates rates;
  std::uint64_t bytes = 0;
  std::int64_t now = 0;
  const auto first_window = rates.window();
  for (int i = 0; i < 4000; ++i) {
    const auto length = static_cast<std::int64_t>(random() % 3'000'000);
    const std::uint64_t size = 1 + random() % 100'000'000;
    rates.add(moved(Activity::kTlp, now, now + length, size));
    bytes += size;
    now += static_cast<std::int64_t>(random() % 2'000'000);
  }
  EXPECT_GT(rates.window(), first_window);
  EXPECT_LE(now / rates.window().count(), static_cast<std::int64_t>(Rates::kMostWindows));
  // Each value is rounded down to a MB/s.
  const double lost = 1e-6 * static_cast<double>(now + 3'000'000);
  EXPECT_NEAR(amounts(rates).at(""), static_cast<double>(bytes), lost + 1);
}

TEST(Rates, OfChannelsAddUpToTheirMemory) {
  Rates rates;
  rates.add(moved(Activity::kHbmRead, 0, 100'000, 300'000, 0b1011));
  rates.add(moved(Activity::kHbmWrite, 100'000, 200'000, 100'000, 0b0010));
  const auto found = amounts(rates);
  EXPECT_EQ(found.at(""), 400'000);
  EXPECT_EQ(found.at(".channel0"), 100'000);
  EXPECT_EQ(found.at(".channel1"), 200'000);
  EXPECT_EQ(found.at(".channel3"), 100'000);
}

TEST(Rates, CountLookUpsAndMisses) {
  Rates rates;
  constexpr std::uint64_t kHit = std::uint64_t{1} << 63;
  for (const auto detail : {kHit, std::uint64_t{0}, kHit}) {
    rates.add(moved(Activity::kTranslation, 10, 10, 0, detail));
  }
  std::map<std::string, std::uint64_t> first;
  rates.for_each([&](const Rates::Sample& sample) { first.emplace(sample.what, sample.value); });
  EXPECT_EQ(first.at(".lookups"), 30'000U) << "3 in 100 ns";
  EXPECT_EQ(first.at(".misses"), 10'000U);
}

TEST(Rates, PassOverWhatMovesNothing) {
  Rates rates;
  rates.add(moved(Activity::kTlp, 0, 10, 0));
  rates.add(moved(Activity::kCommand, 0, 10, 4096));
  rates.add(moved(Activity::kMeasurement, 0, 10, 4096));
  EXPECT_TRUE(amounts(rates).empty());
}

}  // namespace
}  // namespace npu::timeline
