// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/utilisation.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace npu::timeline {
namespace {

using platform::Activity;

class Used : public testing::Test {
 protected:
  void add(Activity activity, std::int64_t begin, std::int64_t end, std::uint64_t bytes = 0,
           std::uint64_t detail = 0) {
    platform::TraceEvent event{};
    event.begin = Instant(Picoseconds(begin));
    event.end = Instant(Picoseconds(end));
    event.bytes = bytes;
    event.detail = detail;
    event.track = 1;
    event.activity = activity;
    utilisation_.on_event(event);
  }
  std::vector<Utilisation::Unit> units(std::uint64_t capacity = 0) const {
    return utilisation_.units([](std::uint32_t) { return std::string("unit"); },
                              [capacity](const std::string&) { return capacity; });
  }
  Utilisation utilisation_;
};

TEST_F(Used, TimeAndBytesStayWhenWindowsDouble) {
  std::mt19937_64 random(12);
  std::int64_t now = 0, busy = 0;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto length = static_cast<std::int64_t>(random() % 500'000);
    add(Activity::kCommand, now, now + length, random() % 1000);
    busy += length;
    now += length + static_cast<std::int64_t>(random() % 500'000);
  }
  const auto unit = units().at(0);
  const double window = static_cast<double>(utilisation_.window().count()) / 100'000;
  const double found =
      window * std::accumulate(unit.busy_per_hundred_k.begin(), unit.busy_per_hundred_k.end(), 0.0);
  EXPECT_LE(unit.busy_per_hundred_k.size(), Utilisation::kMostWindows);
  EXPECT_LE(found, static_cast<double>(busy));
  EXPECT_NEAR(found, static_cast<double>(busy), window * Utilisation::kMostWindows);
  random.seed(12);
  for (int i = 0; i < 3000; ++i) {
    random();
    bytes += random() % 1000;
    random();
  }
  EXPECT_EQ(std::accumulate(unit.bytes.begin(), unit.bytes.end(), std::uint64_t{0}), bytes);
}

TEST_F(Used, ALinkIsBusyByItsBytesOnTheWire) {
  add(Activity::kTlp, 0, 100'000, 50, 100);  // 100 B on the wire in a window of 100 ns
  const auto unit = units(2'000'000'000).at(0);
  EXPECT_EQ(unit.busy_per_hundred_k.at(0), 50'000U) << "1 GB/s of 2 GB/s";
  EXPECT_EQ(unit.bytes.at(0), 50U);
}

TEST_F(Used, NothingIsBusierThanAll) {
  for (int i = 0; i < 3; ++i) add(Activity::kCommand, 0, 100'000);
  EXPECT_EQ(units().at(0).busy_per_hundred_k.at(0), 100'000U);
}

TEST_F(Used, WhatLiesWithinAnotherDoesNotCount) {
  add(Activity::kDataRead, 0, 100);
  add(Activity::kMeasurement, 0, 100);
  EXPECT_TRUE(units().empty());
}

}  // namespace
}  // namespace npu::timeline
