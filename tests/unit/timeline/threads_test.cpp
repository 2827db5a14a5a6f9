// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace npu::timeline {
namespace {

TEST(Lanes, HoldNoTwoAtOnceAndNoMoreThanThereMustBe) {
  std::mt19937_64 random(11);
  struct Piece {
    std::int64_t begin, end;
  };
  std::vector<Piece> pieces;
  for (int i = 0; i < 2000; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % 10'000);
    pieces.push_back({begin, begin + static_cast<std::int64_t>(random() % 40)});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.end < b.end; });
  Lanes lanes;
  std::vector<std::vector<Piece>> held;
  for (const auto& piece : pieces) {
    const auto lane =
        lanes.take(Instant(Picoseconds(piece.begin)), Instant(Picoseconds(piece.end)));
    ASSERT_LE(lane, held.size());
    if (lane == held.size()) held.emplace_back();
    for (const auto& other : held[lane]) {
      ASSERT_TRUE(other.end <= piece.begin || piece.end <= other.begin);
    }
    held[lane].push_back(piece);
  }
  EXPECT_EQ(lanes.count(), held.size());
}

TEST(Lanes, AreTakenFromTheFirstThatIsFree) {
  std::mt19937_64 random(13);
  Lanes lanes;
  std::vector<std::int64_t> ends;
  for (std::int64_t now = 0; now < 20'000; ++now) {
    const auto begin = std::max<std::int64_t>(0, now - static_cast<std::int64_t>(random() % 300));
    const auto free =
        std::find_if(ends.begin(), ends.end(), [&](std::int64_t end) { return end <= begin; });
    const auto expected = static_cast<std::size_t>(free - ends.begin());
    if (free == ends.end()) ends.push_back(0);
    ends[expected] = now;
    ASSERT_EQ(lanes.take(Instant(Picoseconds(begin)), Instant(Picoseconds(now))), expected) << now;
  }
  EXPECT_GT(ends.size(), 100U);
}

class ThreadsOf : public testing::Test {
 protected:
  Thread of(const std::string& track, platform::Activity activity, std::int64_t begin,
            std::int64_t end) {
    const auto known = std::find(tracks_.begin(), tracks_.end(), track);
    platform::TraceEvent event{};
    event.track = static_cast<std::uint32_t>(known - tracks_.begin());
    if (known == tracks_.end()) tracks_.push_back(track);
    event.begin = Instant(Picoseconds(begin));
    event.end = Instant(Picoseconds(end));
    event.activity = activity;
    return threads_.of(
        event, [this](std::uint32_t number) { return tracks_[number]; },
        [this](const Threads::News& news) { news_.push_back(news); });
  }
  Threads threads_;
  std::vector<std::string> tracks_;
  std::vector<Threads::News> news_;
};

TEST_F(ThreadsOf, AUnitAreOfThePartItBelongsTo) {
  const auto first = of("card0.dma.engine0", platform::Activity::kCommand, 0, 5);
  const auto second = of("card0.dma.engine1", platform::Activity::kCommand, 0, 5);
  EXPECT_EQ(first.process, second.process);
  EXPECT_NE(first.number, second.number);
  ASSERT_EQ(news_.size(), 3U);
  EXPECT_EQ(news_[0].process_name, "card0 DMA engines");
  EXPECT_EQ(news_[1].thread_name, "dma.engine0");
  EXPECT_EQ(news_[2].thread_name, "dma.engine1");
}

TEST_F(ThreadsOf, AUnitAreSeveralIfItsEventsOverlap) {
  const auto first = of("host.cpu0", platform::Activity::kCpuBusy, 0, 5);
  const auto next = of("host.cpu0", platform::Activity::kCpuBusy, 5, 9);
  const auto over = of("host.cpu0", platform::Activity::kCpuBusy, 6, 9);
  EXPECT_EQ(first.number, next.number);
  EXPECT_NE(first.number, over.number);
  EXPECT_EQ(news_.back().thread_name, "cpu0 (2)");
}

TEST_F(ThreadsOf, CardsHaveTheirPlaceOnTheBus) {
  threads_.set_bus_addresses({{"card0", "01:00.0"},
                              {"driver0", "01:00.0"},
                              {"card12", "86:00.0"},
                              {"pci.link3", "86:00.0"}});
  of("card0.dma.engine0", platform::Activity::kCommand, 0, 5);
  of("card12.hbm", platform::Activity::kHbmRead, 0, 5);
  of("driver0.submit", platform::Activity::kDmaSubmit, 0, 5);
  of("pci.link3.down", platform::Activity::kTlp, 0, 5);
  of("pci.link31.down", platform::Activity::kTlp, 0, 5);
  of("hccs0_1.up", platform::Activity::kHccsTransfer, 0, 5);
  std::vector<std::string> names;
  for (const auto& news : news_) names.push_back(news.process_name + news.thread_name);
  const std::vector<std::string> expected{"card0 01:00.0 DMA engines",
                                          "dma.engine0",
                                          "card12 86:00.0 HBM",
                                          "hbm",
                                          "driver",
                                          "submit 01:00.0",
                                          "PCIe",
                                          "link3.down 86:00.0",
                                          "link31.down",
                                          "HCCS",
                                          "hccs0_1.up"};
  EXPECT_EQ(names, expected);
}

TEST_F(ThreadsOf, CardsComeBehindTheHostInTheirOrder) {
  of("card1.hbm", platform::Activity::kHbmRead, 0, 1);
  of("card0.hbm", platform::Activity::kHbmRead, 0, 1);
  of("workload.x", platform::Activity::kMeasurement, 0, 1);
  std::map<std::string, unsigned> order;
  for (const auto& news : news_) {
    if (!news.process_name.empty()) order[news.process_name] = news.sort_index;
  }
  EXPECT_LT(order.at("workload"), order.at("card0 HBM"));
  EXPECT_LT(order.at("card0 HBM"), order.at("card1 HBM"));
}

}  // namespace
}  // namespace npu::timeline
