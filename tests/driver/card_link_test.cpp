// SPDX-License-Identifier: Apache-2.0
// Register access by bus script: what all ones mean.
#include "driver/link/card_link.hpp"

#include <gtest/gtest.h>

#include "npu/abi/registers.hpp"
#include "tests/support/bus_script.hpp"
#include "tests/support/fake/fake_platform.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::FailsWith;
using test::IsOk;

CardInfo card_at(platform::Bdf bdf) {
  CardInfo info;
  info.function.bdf = bdf;
  return info;
}

class CardLinkTest : public testing::Test {
 protected:
  test::BusScript script;
  test::FakePlatform fake;
  test::FakeCard& card = fake.add_card();
  CardInfo info = card_at({1, 0, 0});
  CardLink link{fake, info, std::make_unique<test::ScriptedRegion>(script, 32_KiB), 1_ms};
};

TEST_F(CardLinkTest, ReadsAndWritesRegistersAtTheirOffsetsAndWidths) {
  script.expect_read<abi::DmaConsumerIndex>(17).expect_write<abi::DmaDoorbell>(18).expect_read_at(
      0x2000 + 8 * 5, 8, 3);
  EXPECT_EQ(link.read<abi::DmaConsumerIndex>()->raw, 17U);
  link.write(abi::DmaDoorbell::from_raw(18));
  EXPECT_EQ(link.read_event(5).value_or(0), 3U);
  EXPECT_TRUE(script.is_done());
}

TEST_F(CardLinkTest, AllOnesOfACardThatStillAnswersIsACompletionTimeout) {
  script.expect_read<abi::DmaConsumerIndex>(0xFFFFFFFF).expect_read<abi::DmaConsumerIndex>(4);
  EXPECT_THAT(link.read<abi::DmaConsumerIndex>(), FailsWith(ErrorCode::kIo, "DMA_CONSUMER_INDEX"));
  EXPECT_FALSE(link.lost());
  EXPECT_TRUE(link.read<abi::DmaConsumerIndex>().has_value());
}

// The driver still has to end what it has begun.
TEST_F(CardLinkTest, WhatIsClosedIsNoUsersAndAliveForTheDriver) {
  EXPECT_THAT(link.usable(), IsOk());
  EXPECT_TRUE(link.close());
  EXPECT_FALSE(link.close());
  EXPECT_THAT(link.usable(), FailsWith(ErrorCode::kInvalidArgument, "shut down"));
  EXPECT_THAT(link.alive(), IsOk());
  script.expect_read<abi::DmaConsumerIndex>(4);
  EXPECT_TRUE(link.read<abi::DmaConsumerIndex>().has_value());
}

TEST_F(CardLinkTest, AllOnesEverywhereIsALostCardThatIsNotTouchedAgain) {
  script.expect_read<abi::DmaConsumerIndex>(0xFFFFFFFF);
  card.remove();
  EXPECT_THAT(link.read<abi::DmaConsumerIndex>(), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(link.read<abi::DmaConsumerIndex>(), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(link.read_event(0), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_TRUE(script.is_done());
}

}  // namespace
}  // namespace npu::driver
