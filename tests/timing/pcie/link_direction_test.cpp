// SPDX-License-Identifier: Apache-2.0
// One direction of a link: rates, trains, FIFO order, credits, statistics.
#include "model/pcie/link_direction.hpp"

#include <gtest/gtest.h>

#include "tests/bench/pcie/pcie_config.hpp"

namespace npu::test {
namespace {

using model::LinkDirection;
using model::TlpTrain;

constexpr std::uint64_t kHold = 30'000;
constexpr std::uint64_t kPropagation = 50'000;
// Arrival of a TLP until its credits are back: hold, credit update 10 ns, propagation.
constexpr std::uint64_t kCreditReturn = kHold + 10'000 + kPropagation;

TlpTrain posted(std::uint32_t count, Bytes payload) {
  return {count, 12, payload, true};
}

struct Rate {
  unsigned generation;
  double gigatransfers;
  double bits_per_byte;
};

class LinkRates : public testing::TestWithParam<std::tuple<Rate, unsigned>> {};

TEST_P(LinkRates, FollowEncodingAndLanes) {
  const auto [rate, lanes] = GetParam();
  auto config = link_config();
  config.generation = rate.generation;
  config.lanes = lanes;
  const LinkDirection link(config, 0);
  for (const Bytes bytes : {1ULL, 28ULL, 284ULL, 4096ULL, 1ULL << 20}) {
    const double exact =
        static_cast<double>(bytes) * rate.bits_per_byte * 1000 / rate.gigatransfers / lanes;
    EXPECT_GE(static_cast<double>(link.wire_time(bytes)), exact - 1e-6);
    EXPECT_LT(static_cast<double>(link.wire_time(bytes)), exact + 1);
  }
}

constexpr double kCoded = 8.0 * 130 / 128;
INSTANTIATE_TEST_SUITE_P(AllGenerationsAndWidths, LinkRates,
                         testing::Combine(testing::Values(Rate{1, 2.5, 10}, Rate{2, 5, 10},
                                                          Rate{3, 8, kCoded}, Rate{4, 16, kCoded},
                                                          Rate{5, 32, kCoded}),
                                          testing::Values(1U, 2U, 4U, 8U, 16U)));

class TrainSizes : public testing::TestWithParam<Bytes> {};

TEST_P(TrainSizes, EveryTlpPaysFramingHeaderAndDllps) {
  LinkDirection link(link_config(), kHold);
  const Bytes payload = GetParam();
  const auto count = static_cast<std::uint32_t>((payload + 255) / 256);
  const auto slot = link.reserve(1000, posted(count, payload));
  EXPECT_EQ(slot.start, 1000U);
  EXPECT_EQ(slot.sent, 1000 + link.wire_time(count * (8 + 12 + 4) + payload));
  EXPECT_EQ(slot.arrival, slot.sent + kPropagation);
}

INSTANTIATE_TEST_SUITE_P(FourBytesToFourKib, TrainSizes,
                         testing::Values(4, 64, 128, 256, 260, 512, 1024, 2048, 4096));

TEST(LinkDirection, SecondTrainStartsWhenTheFirstHasLeft) {
  LinkDirection link(link_config(), kHold);
  const auto first = link.reserve(0, posted(1, 256));
  const auto second = link.reserve(10, posted(1, 4));
  EXPECT_EQ(second.start, first.sent);
  EXPECT_GT(second.arrival, first.arrival);
}

TEST(LinkDirection, IdleLinkStartsAtOnce) {
  LinkDirection link(link_config(), kHold);
  link.reserve(0, posted(1, 256));
  EXPECT_EQ(link.reserve(5'000'000, posted(1, 4)).start, 5'000'000U);
}

TEST(LinkDirection, ADamagedTrainIsSentAgainAndHoldsItsCreditsForSoLong) {
  auto config = link_config();
  config.header_credits = 1;
  LinkDirection link(config, kHold);
  link.damage_next();
  const auto sound = LinkDirection(config, kHold).reserve(0, posted(1, 256));
  const auto first = link.reserve(0, posted(1, 256));
  EXPECT_EQ(first.sent,
            sound.sent + 2 * kPropagation + link.wire_time(8) + link.wire_time(8 + 12 + 4 + 256));
  EXPECT_EQ(first.arrival, first.sent + kPropagation);
  EXPECT_EQ(link.reserve(0, posted(1, 4)).start, first.arrival + kCreditReturn);
  EXPECT_EQ(link.statistics().bad_tlps, 1U);
  EXPECT_EQ(link.statistics().replayed_bytes, 280U);
  EXPECT_EQ(link.statistics().tlps, 2U) << "of transactions";
}

TEST(LinkDirection, AnotherRateIsForWhatIsSentFromThen) {
  LinkDirection link(link_config(), kHold);
  const auto first = link.reserve(0, posted(1, 256));
  link.set_rate(1, 1);
  const auto second = link.reserve(0, posted(1, 256));
  EXPECT_EQ(second.start, first.sent);
  EXPECT_EQ(second.sent - second.start, 280U * 4'000);
}

TEST(LinkDirection, LastHeaderCreditIsUsedAndTheNextTlpWaitsForTheFirstToReturn) {
  auto config = link_config();
  config.header_credits = 4;
  LinkDirection link(config, kHold);
  const auto first = link.reserve(0, posted(1, 4));
  std::uint64_t sent = first.sent;
  for (int i = 1; i < 4; ++i) {
    const auto slot = link.reserve(0, posted(1, 4));
    EXPECT_EQ(slot.start, sent) << "TLP " << i << " has its credit";
    sent = slot.sent;
  }
  EXPECT_EQ(link.reserve(0, posted(1, 4)).start, first.arrival + kCreditReturn);
}

TEST(LinkDirection, DataCreditsCountInUnitsOf16Bytes) {
  auto config = link_config();
  config.data_credits = 512;
  LinkDirection link(config, kHold);
  const auto first = link.reserve(0, posted(1, 256));
  const auto fits = link.reserve(0, posted(1, 240));
  EXPECT_EQ(fits.start, first.sent);
  const auto last = link.reserve(0, posted(1, 4));  // 4 bytes take the last 16
  EXPECT_EQ(last.start, fits.sent);
  EXPECT_EQ(link.reserve(0, posted(1, 4)).start, first.arrival + kCreditReturn);
}

TEST(LinkDirection, TrainLargerThanTheBufferIsSentPieceByPiece) {
  auto config = link_config();
  config.data_credits = 256;
  LinkDirection link(config, kHold);
  const std::uint64_t tlp = link.wire_time(8 + 12 + 4 + 256);
  const std::uint64_t round = tlp + kPropagation + kCreditReturn;
  const auto slot = link.reserve(0, posted(4, 1024));
  EXPECT_EQ(slot.sent, 3 * round + tlp);
  EXPECT_EQ(link.statistics().credit_stall, 3 * (round - tlp));
  EXPECT_EQ(link.statistics().busy, 4 * tlp);
}

TEST(LinkDirection, RequestsWithoutCreditsPassAFullBuffer) {
  auto config = link_config();
  config.header_credits = 1;
  LinkDirection link(config, kHold);
  const auto first = link.reserve(0, posted(1, 4));
  EXPECT_EQ(link.reserve(0, TlpTrain{1, 12, 0, false}).start, first.sent);
}

TEST(LinkDirection, SaturatedBandwidthIsTheBufferPerCreditRoundTrip) {
  auto config = link_config();
  config.data_credits = 2_KiB;  // less than rate times round trip
  LinkDirection link(config, kHold);
  std::uint64_t sent = 0;
  for (int i = 0; i < 1000; ++i) sent = link.reserve(0, posted(1, 256)).sent;
  const std::uint64_t tlp = link.wire_time(8 + 12 + 4 + 256);
  const std::uint64_t round = tlp + kPropagation + kCreditReturn;  // for eight TLPs
  EXPECT_NEAR(static_cast<double>(sent), 1000.0 / 8 * static_cast<double>(round),
              static_cast<double>(round));
}

TEST(LinkDirection, ReceiverMayHoldTheTransmitterOff) {
  LinkDirection link(link_config(), kHold);
  link.stall_until(70'000);
  EXPECT_EQ(link.reserve(0, posted(1, 4)).start, 70'000U);
}

TEST(LinkDirection, StatisticsOfAnIntervalAreADifference) {
  LinkDirection link(link_config(), kHold);
  link.reserve(0, posted(16, 4096));
  const auto before = link.statistics();
  link.reserve(0, posted(2, 512));
  const auto interval = link.statistics() - before;
  EXPECT_EQ(interval.tlps, 2U);
  EXPECT_EQ(interval.payload_bytes, 512U);
  EXPECT_EQ(interval.header_bytes, 2U * (8 + 12));
  EXPECT_EQ(interval.dllp_bytes, 2U * 4);
  EXPECT_EQ(interval.busy, link.wire_time(512 + 2 * (8 + 12 + 4)));
}

}  // namespace
}  // namespace npu::test
