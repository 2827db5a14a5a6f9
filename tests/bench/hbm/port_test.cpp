// SPDX-License-Identifier: Apache-2.0
// The HBM at its socket: bytes, responses, errors, and what the counters say.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/bench/hbm/hbm_initiator.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model {
namespace {

using test::HbmSystem;

TEST(HbmPort, AnIdleReadTakesActTrcdClAndBurst) {
  HbmConfig config = test::split_config(test::ramulator_timings());
  config.frontend = Picoseconds(7'000);
  config.backend = Picoseconds(9'000);
  HbmSystem system(config);
  std::uint32_t word = 1;

  system.port().issue(false, 0x1000, &word, sizeof word);
  HbmSystem::run();

  // Arrives at 7 ns, ACT at 8, RD 14 + 1 later, data 14 + 2 later, 9 ns back.
  EXPECT_EQ(system.port().last_response, 1000U * (7 + 1 + 15 + 16 + 9));
  EXPECT_EQ(word, 0U);
}

TEST(HbmPort, AWriteAnswersWhenItsDataIsTaken) {
  HbmSystem system(test::split_config(test::ramulator_timings()));
  std::uint32_t word = 0x12345678;

  system.port().issue(true, 0x1000, &word, sizeof word);
  HbmSystem::run();

  // ACT at 1 ns, WR 12 + 1 later, CWL 5 and a burst of 2 later.
  EXPECT_EQ(system.port().last_response, 1000U * (1 + 13 + 7));
  std::uint32_t stored = 0;
  system.hbm.memory().read(0x1000, &stored, sizeof stored);
  EXPECT_EQ(stored, word);
}

HbmConfig config_of(bool by_bank) {
  auto config = test::card_config();
  if (by_bank) config.timings = test::with_bank_refresh(config.timings);
  return config;
}

class HbmHeat : public ::testing::TestWithParam<bool> {
 protected:
  // Of a long stream of reads.
  struct Streamed {
    double time, refreshes;
  };
  Streamed stream() {
    const auto refreshes = system.hbm.statistics().refreshes;
    const SimTime begin = sim_now();
    const auto expected = system.port().responses + 512;
    for (unsigned i = 0; i < 512; ++i) {
      system.port().issue_strided(false, Bytes{i} << 16, nullptr, 1 << 16, 1, 0);
    }
    HbmSystem::run();
    EXPECT_EQ(system.port().responses, expected);
    return {double(system.port().last_response - begin),
            double(system.hbm.statistics().refreshes - refreshes)};
  }

  HbmSystem system{config_of(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(AllBanksAndOne, HbmHeat, ::testing::Bool());

TEST_P(HbmHeat, HotChannelsAreRefreshedMoreOftenAndServeLess) {
  const auto usual = stream();
  for (unsigned i = 0; i < test::card_config().channels; ++i) system.hbm.set_refresh_pace(i, 4);
  const auto hot = stream();
  EXPECT_GT(hot.time, usual.time);
  EXPECT_NEAR(hot.refreshes / hot.time / (usual.refreshes / usual.time), 4, 0.3);
}

// At any time, idle and busy.
TEST_P(HbmHeat, EveryRequestIsAnsweredWhileChannelsGetHotAndCool) {
  std::mt19937 random(8);
  for (unsigned i = 0; i < 3000; ++i) {
    const auto length = static_cast<unsigned>(1 + random() % 9000);
    system.port().issue_strided(random() % 2 == 0, Bytes{random()} << 3, nullptr, length, 1, 0);
    if (random() % 8 == 0) {
      system.hbm.set_refresh_pace(static_cast<unsigned>(random() % test::card_config().channels),
                                  static_cast<unsigned>(1 + random() % 8));
    }
    if (random() % 3 == 0) HbmSystem::run(1 + random() % 2'000'000);
  }
  HbmSystem::run();
  EXPECT_EQ(system.port().responses, 3000U);
}

TEST(HbmPort, RandomAccessesMoveTheBytesAnArrayWould) {
  HbmSystem system(test::card_config(), 2);
  constexpr unsigned kSize = 1 << 20;
  std::vector<unsigned char> array(kSize, 0);
  std::mt19937 random(3);
  for (unsigned i = 0; i < 3000; ++i) {
    const auto length = static_cast<unsigned>(1 + random() % 9000);
    const auto address = static_cast<unsigned>(random() % (kSize - length));
    std::vector<unsigned char> data(length);
    if (random() % 2 == 0) {
      for (auto& byte : data) byte = static_cast<unsigned char>(random());
      std::memcpy(array.data() + address, data.data(), length);
      system.port(i % 2).issue(true, address, data.data(), length);
    } else {
      system.port(i % 2).issue(false, address, data.data(), length);
      ASSERT_EQ(std::memcmp(data.data(), array.data() + address, length), 0) << i;
    }
    if (i % 16 == 0) HbmSystem::run(100'000);
  }
  HbmSystem::run();
  EXPECT_EQ(system.port(0).responses + system.port(1).responses, 3000U);
  EXPECT_EQ(system.simulation.pool.in_use(), 0U);
}

TEST(HbmPort, PartialBurstsCostWholeOnes) {
  HbmSystem system(test::card_config());
  std::array<unsigned char, 64> data{};

  system.port().issue(false, 31, data.data(), 34);  // last byte of one, one whole, first of a third
  HbmSystem::run();

  EXPECT_EQ(system.hbm.statistics().bursts_read, 3U);
}

TEST(HbmPort, AnAccessBeyondTheInstalledMemoryIsRefused) {
  HbmSystem system(test::card_config());
  const Bytes end = test::card_config().installed;
  std::uint64_t word = 5;
  Completion completion = Completion::kSuccess;
  auto status = tlm::TLM_OK_RESPONSE;
  system.port().on_response = [&](auto& payload) {
    completion = Transaction::of(payload).completion;
    status = payload.get_response_status();
  };

  system.port().issue(false, end - 4, &word, sizeof word);
  HbmSystem::run();

  EXPECT_EQ(completion, Completion::kUnsupportedRequest);
  EXPECT_EQ(status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(word, 5U);
  EXPECT_EQ(system.port().last_response, 40'000U);  // frontend and backend
}

TEST(HbmPort, PostedWritesAreReleasedWithoutAResponse) {
  HbmSystem system(test::card_config());
  std::uint64_t word = 5;

  system.port().issue(true, 64, &word, sizeof word, true);
  system.port().issue(true, test::card_config().installed, &word, sizeof word, true);
  EXPECT_EQ(system.simulation.pool.in_use(), 2U);
  HbmSystem::run();

  EXPECT_EQ(system.simulation.pool.in_use(), 0U);
  EXPECT_EQ(system.port().responses, 0U);
}

TEST(HbmPort, TransportDbgMovesBytesAndNoTime) {
  HbmSystem system(test::card_config());
  std::uint32_t word = 77;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(4096);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
  payload.set_data_length(sizeof word);

  EXPECT_EQ(system.port().socket->transport_dbg(payload), sizeof word);

  std::uint32_t stored = 0;
  system.hbm.memory().read(4096, &stored, sizeof stored);
  EXPECT_EQ(stored, 77U);
  EXPECT_EQ(system.hbm.statistics().bursts_written, 0U);
}

// Traffic with every kind of loss, and the time it ended.
SimTime mixed_traffic(HbmSystem& system) {
  std::mt19937 random(11);
  static unsigned char data[8192];
  for (unsigned i = 0; i < 2000; ++i) {
    const std::uint64_t address = (random() % (1U << 20)) * 4096;
    system.port().issue(i % 3 == 0, address, data, i % 2 == 0 ? 64 : 8192);
    if (i % 8 == 0) HbmSystem::run(40'000);
  }
  HbmSystem::run();
  return system.port().last_response;
}

TEST(HbmStatistics, ClocksOfTheDataBusesAddUp) {
  HbmSystem system(test::card_config());

  mixed_traffic(system);

  const auto s = system.hbm.statistics();
  const double buses = 64.0 * static_cast<double>(sim_now() + 20'000);  // the frontend
  EXPECT_NEAR(static_cast<double>(s.total().count()), buses, 64 * 3 * 834.0);
  EXPECT_EQ(s.row_hits + s.row_misses, s.bursts_read + s.bursts_written);
  EXPECT_NEAR(static_cast<double>(s.data.count()),
              static_cast<double>(s.bursts_read + s.bursts_written) * 2 / 1.2e9 * 1e12, 1000.0);
  for (const auto part : {s.idle, s.row, s.column, s.turnaround, s.refresh}) {
    EXPECT_GT(part, Picoseconds(0));
  }
}

TEST(HbmStatistics, AnIdleMemoryIsIdleAndRefreshed) {
  HbmSystem system(test::split_config(test::ramulator_timings()));

  HbmSystem::run(1'000'000'000);  // 1 ms

  const auto s = system.hbm.statistics();
  EXPECT_EQ(s.idle, s.total());
  EXPECT_EQ(s.refreshes, 1'000'000U / 3900 * 16);
}

TEST(HbmPort, TheSameTrafficTakesTheSameTime) {
  HbmSystem system(test::card_config());

  const SimTime end = mixed_traffic(system);

  // Reading the counters on the way must not change anything: compare with a run that does.
  EXPECT_GT(end, 0U);
  const auto before = system.hbm.statistics();
  const auto again = system.hbm.statistics();
  EXPECT_EQ((again - before).bursts_read, 0U);
  EXPECT_EQ((again - before).total(), Picoseconds(0));
}

}  // namespace
}  // namespace npu::model
