// SPDX-License-Identifier: Apache-2.0
// An HBM whose bursts are planned (fidelity `run`) at its socket: every request is answered once,
// with its bytes, also long after it came; what is counted adds up.
#include <gtest/gtest.h>

#include <random>

#include "tests/bench/hbm/hbm_initiator.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model {
namespace {

using test::HbmSystem;

HbmConfig planned_config() {
  auto config = test::card_config();
  config.fidelity = HbmFidelity::kRun;
  config.interleave = 512;
  config.interleave_groups = 2;
  return config;
}

TEST(HbmPlanned, EveryRequestIsAnsweredOnce) {
  HbmSystem system(planned_config());
  std::mt19937_64 random(5);
  std::vector<unsigned char> data(64 * 1024, 3);
  std::size_t expected = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    const bool write = random() % 2 != 0, posted = write && random() % 4 == 0;
    const auto address = random() % (Bytes{60} << 30);
    const auto length = static_cast<unsigned>(1 + random() % (random() % 8 == 0 ? 65'536 : 600));
    if (random() % 5 == 0) {
      system.port().issue_strided(write, address, nullptr, length / 8 * 8 + 8, 8, 8192);
      ++expected;
    } else {
      system.port().issue(write, address, data.data(), length, posted);
      expected += posted ? 0 : 1;
    }
    if (random() % 3 == 0) HbmSystem::run(1 + random() % 500'000);
  }
  HbmSystem::run();
  EXPECT_EQ(system.port().responses, expected);
}

TEST(HbmPlanned, ManyAtOnceAreServedAtTheRateOfTheMemory) {
  HbmSystem system(planned_config());
  constexpr unsigned kRequests = 2048, kLength = 64 * 1024;
  for (unsigned i = 0; i < kRequests; ++i) {
    system.port().issue_strided(false, Bytes{i} * kLength, nullptr, kLength, 1, 0);
  }
  HbmSystem::run();
  EXPECT_EQ(system.port().responses, kRequests);
  const double seconds = static_cast<double>(system.port().last_response) / 1e12;
  const double rate = double{kRequests} * kLength / seconds / 1e9;
  EXPECT_LE(rate, 1228.8);
  EXPECT_GE(rate, 1100);
}

TEST(HbmPlanned, ReadsGiveWhatWasWritten) {
  HbmSystem system(planned_config());
  std::vector<unsigned char> out(5000), back(5000);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(i * 7);
  system.port().issue(true, 12'345, out.data(), 5000);
  system.port().issue(false, 12'345, back.data(), 5000);
  HbmSystem::run();
  EXPECT_EQ(back, out);
}

TEST(HbmPlanned, TheClocksOfTheBusesAddUp) {
  HbmSystem system(planned_config());
  std::mt19937_64 random(9);
  for (unsigned i = 0; i < 400; ++i) {
    system.port().issue_strided(random() % 3 == 0, random() % (Bytes{50} << 30), nullptr,
                                static_cast<unsigned>(64 + random() % 4096), 1, 0);
    HbmSystem::run(1 + random() % 60'000);
  }
  HbmSystem::run(50'000'000);
  const auto sums = system.hbm.statistics();
  const auto config = planned_config();
  const auto until = static_cast<std::int64_t>(sim_now()) + config.frontend.count();
  const std::int64_t buses = config.channels * config.timings.pseudo_channels;
  EXPECT_NEAR(static_cast<double>(sums.total().count()), static_cast<double>(until * buses), 1e6);
  EXPECT_EQ(sums.row_hits + sums.row_misses, sums.bursts_read + sums.bursts_written);
  EXPECT_EQ(sums.activates, sums.row_misses);
  EXPECT_GT(sums.idle.count(), 0);
  EXPECT_GT(sums.refreshes, 0U);
}

}  // namespace
}  // namespace npu::model
