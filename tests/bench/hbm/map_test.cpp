// SPDX-License-Identifier: Apache-2.0
// Address mapping and clock edges.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

#include "model/hbm/address_map.hpp"
#include "model/hbm/clock_domain.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model::hbm {
namespace {

TEST(HbmAddressMap, FieldsLieInThePublishedOrder) {
  const AddressMap map(test::shared_config(test::dramsys_timings()));

  const std::uint64_t burst = 0b101'1'10'01101'11'1'110;  // row stack bank column group pc channel
  const Location where = map.locate(map.index(burst));

  EXPECT_EQ(map.channel(burst), 0b110U);
  EXPECT_EQ(where.pseudo_channel, 1U);
  EXPECT_EQ(where.group, 0b11U);
  EXPECT_EQ(where.column, 0b01101U);
  EXPECT_EQ(where.bank, 0b10U);
  EXPECT_EQ(where.stack, 1U);
  EXPECT_EQ(where.row, 0b101U);
}

HbmConfig interleaved(HbmConfig config, Bytes interleave) {
  config.interleave = interleave;
  config.interleave_groups = config.timings.bank_groups;
  return config;
}

TEST(HbmAddressMap, AnInterleaveTakesBankGroupsAndColumnsBelowTheChannel) {
  auto config = interleaved(test::shared_config(test::dramsys_timings()), 512);
  const AddressMap map(config);

  // row, stack, bank, column, pseudo channel, channel, column, group
  const std::uint64_t burst = 0b101'1'10'011'1'110'01'11;
  const Location where = map.locate(map.index(burst));

  EXPECT_EQ(map.interleave(), 16U);
  EXPECT_EQ(map.channel(burst), 0b110U);
  EXPECT_EQ(where.pseudo_channel, 1U);
  EXPECT_EQ(where.group, 0b11U);
  EXPECT_EQ(where.column, 0b01101U);
  EXPECT_EQ(where.bank, 0b10U);
  EXPECT_EQ(where.stack, 1U);
  EXPECT_EQ(where.row, 0b101U);
}

TEST(HbmAddressMap, AnInterleaveOfTwoBankGroupsOpensTwoRows) {
  auto config = interleaved(test::shared_config(test::dramsys_timings()), 512);
  config.interleave_groups = 2;
  const AddressMap map(config);

  // row, stack, bank, column, group, pseudo channel, channel, column, group
  const Location where = map.locate(map.index(0b101'1'10'01'1'0'110'011'1));

  EXPECT_EQ(map.channel(0b101'1'10'01'1'0'110'011'1), 0b110U);
  EXPECT_EQ(where.pseudo_channel, 0U);
  EXPECT_EQ(where.group, 0b11U);
  EXPECT_EQ(where.column, 0b01011U);
  EXPECT_EQ(where.bank, 0b10U);
  EXPECT_EQ(where.stack, 1U);
  EXPECT_EQ(where.row, 0b101U);
}

TEST(HbmAddressMap, OneChannelHasAllBurstsInOrder) {
  auto config = test::card_config();
  config.channels = 1;
  const AddressMap map(config);

  for (const std::uint64_t burst : {0ULL, 1ULL, 77ULL, (1ULL << 31) - 1}) {
    EXPECT_EQ(map.channel(burst), 0U);
    EXPECT_EQ(map.index(burst), burst);
  }
}

class HbmInterleave : public testing::TestWithParam<Bytes> {
 protected:
  HbmConfig config = interleaved(test::card_config(), GetParam());
};
INSTANTIATE_TEST_SUITE_P(Sizes, HbmInterleave, testing::Values(32, 128, 512, 4096));

TEST_P(HbmInterleave, TheHashGivesEveryBurstAPlaceOfItsOwn) {
  const AddressMap map(config);
  std::set<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>> seen;
  constexpr std::uint64_t kStride = 97;

  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t burst = i < 50'000 ? i : i * kStride + (1U << 24);
    const Location w = map.locate(map.index(burst));
    seen.emplace(map.channel(burst), w.pseudo_channel, w.stack, w.group, w.bank, w.column, w.row);
  }

  EXPECT_EQ(seen.size(), 100'000U);
}

TEST(HbmAddressMap, LaneAndRowAreThoseOfTheLocatedBank) {
  for (const auto& config : {test::card_config(), interleaved(test::card_config(), 512),
                             test::shared_config(test::dramsys_timings()),
                             test::split_config(test::dramsim3_timings())}) {
    const AddressMap map(config);
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      const std::uint64_t index = i * 1'000'003 % (1U << 26);
      const Location where = map.locate(index);

      ASSERT_EQ(map.row(index), where.row);
      ASSERT_EQ(
          map.lane(index, map.turned_over(where.row)),
          lane_number(config.timings, where.pseudo_channel, where.stack, where.group, where.bank));
    }
  }
}

// Cores that share a tensor begin a power of two apart, and all at once.
TEST(HbmAddressMap, RegionsAPowerOfTwoApartBeginOnBothPseudoChannels) {
  const auto config = interleaved(test::card_config(), 512);
  const AddressMap map(config);
  for (const Bytes apart : {32_KiB, 64_KiB, 256_KiB, 1_MiB}) {
    unsigned on_second = 0;
    for (std::uint64_t region = 0; region < 64; ++region) {
      const std::uint64_t burst = region * apart / config.timings.burst;
      on_second += map.locate(map.index(burst)).pseudo_channel;
    }
    EXPECT_EQ(on_second, 32U) << apart;
  }
}

TEST_P(HbmInterleave, ARangeFallsApartIntoOneRunPerChannel) {
  const AddressMap map(config);
  std::mt19937 random(5);
  for (unsigned i = 0; i < 200; ++i) {
    const std::uint64_t first = random() % 100'000'000;
    const std::uint64_t end = first + 1 + random() % 2000;
    for (unsigned channel = 0; channel < map.channels(); ++channel) {
      std::uint64_t next = map.index_below(map.below(first), channel);
      for (std::uint64_t burst = first; burst < end; ++burst) {
        if (map.channel(burst) != channel) continue;
        EXPECT_EQ(map.index(burst), next++);
      }
      EXPECT_EQ(map.index_below(map.below(end), channel), next);
    }
  }
}

TEST(HbmClockDomain, EdgesThatAreNoWholePicosecondsRoundUp) {
  const ClockDomain clocks(1'200'000'000);

  EXPECT_EQ(clocks.time(1), 834U);
  EXPECT_EQ(clocks.time(3), 2500U);
  for (Clock k = 0; k < 10'000; ++k) {
    EXPECT_EQ(clocks.ceil(clocks.time(k)), k);
    EXPECT_EQ(clocks.floor(clocks.time(k)), k);
    EXPECT_EQ(clocks.ceil(clocks.time(k) + 1), k + 1);
    EXPECT_EQ(clocks.floor(clocks.time(k + 1) - 1), k);
  }
}

}  // namespace
}  // namespace npu::model::hbm
