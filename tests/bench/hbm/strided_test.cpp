// SPDX-License-Identifier: Apache-2.0
// Strided requests, and requests that cost time only.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/bench/hbm/hbm_initiator.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model {
namespace {

using test::HbmSystem;

TEST(HbmStrided, RowsGoToTheirPlacesAndNowhereElse) {
  HbmSystem system(test::card_config());
  std::array<unsigned char, 96> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(i + 1);
  std::array<unsigned char, 96> back{};

  system.port().issue_strided(true, 0x1010, out.data(), 96, 3, 1000);
  system.port().issue_strided(false, 0x1010, back.data(), 96, 3, 1000);
  HbmSystem::run();

  std::array<unsigned char, 34> row{};
  system.hbm.memory().read(0x1010 + 2000 - 1, row.data(), row.size());
  EXPECT_EQ(row.front(), 0);
  EXPECT_EQ(row.back(), 0);
  EXPECT_EQ(std::memcmp(row.data() + 1, out.data() + 64, 32), 0);
  EXPECT_EQ(back, out);
}

TEST(HbmStrided, EachRowCostsTheBurstsItTouchesAndOneResponseComes) {
  HbmSystem system(test::card_config());

  system.port().issue_strided(false, 16, nullptr, 5 * 32, 5, 4096);  // of bursts of 32: two each
  HbmSystem::run();

  EXPECT_EQ(system.hbm.statistics().bursts_read * test::card_config().timings.burst, 5 * 2 * 32U);
  EXPECT_EQ(system.port().responses, 1U);
}

TEST(HbmStrided, TheLastRowMustLieInTheInstalledMemory) {
  HbmSystem system(test::card_config());
  auto status = tlm::TLM_INCOMPLETE_RESPONSE;
  system.port().on_response = [&](auto& payload) { status = payload.get_response_status(); };
  const Bytes end = test::card_config().installed;

  system.port().issue_strided(false, end - 4096 - 64, nullptr, 128, 2, 4096);
  HbmSystem::run();
  EXPECT_EQ(status, tlm::TLM_OK_RESPONSE);
  system.port().issue_strided(false, end - 4096 - 63, nullptr, 128, 2, 4096);
  HbmSystem::run();
  EXPECT_EQ(status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(HbmStrided, ARequestWithoutDataTakesTheTimeOfOneWithData) {
  std::array<SimTime, 2> took{};
  HbmSystem system(test::card_config());
  std::array<unsigned char, 4096> data{};
  data.fill(7);

  for (const bool timing_only : {false, true}) {
    const SimTime begin = sim_now();
    system.port().issue_strided(true, 0x10000, timing_only ? nullptr : data.data(), 4096, 1, 0);
    HbmSystem::run(1'000'000);
    took[timing_only ? 1 : 0] = system.port().last_response - begin;
    data.fill(9);
  }
  unsigned char stored = 0;
  system.hbm.memory().read(0x10000, &stored, 1);
  EXPECT_EQ(stored, 7);
  EXPECT_LE(took[1], took[0]);  // its row is open now
  EXPECT_GT(took[1], 0U);
}

TEST(HbmObserver, IsToldOfBytesThatRequestsWriteAndOfNothingElse) {
  struct Ear : WriteObserver {
    void bytes_written(std::uint64_t address, Bytes length) override {
      told.emplace_back(address, length);
    }
    std::vector<std::pair<std::uint64_t, Bytes>> told;
  } ear;
  HbmSystem system(test::card_config());
  system.hbm.observe_writes(ear);
  std::array<unsigned char, 64> data{};

  system.port().issue(true, 0x1005, data.data(), 64);
  system.port().issue_strided(true, 0x2000, data.data(), 64, 2, 4096);
  system.port().issue(false, 0x3000, data.data(), 64);
  system.port().issue_strided(true, 0x4000, nullptr, 64, 1, 0);
  system.port().issue(true, test::card_config().installed, data.data(), 64);
  HbmSystem::run();

  const std::vector<std::pair<std::uint64_t, Bytes>> expected{{0x1005, 64}, {0x2000, 4096 + 32}};
  EXPECT_EQ(ear.told, expected);
}

}  // namespace
}  // namespace npu::model
