// SPDX-License-Identifier: Apache-2.0
// Management on the fake card; its registers are as a test sets them.
#include "npu/driver/management.hpp"

#include "driver/management/busy_fraction.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

TEST(BusyFraction, IsRoundedAndNeverMoreThanAll) {
  EXPECT_EQ(busy_percent(0, 100, 4), 0U);
  EXPECT_EQ(busy_percent(49, 1000, 10), 0U);
  EXPECT_EQ(busy_percent(50, 1000, 10), 1U) << "0.5 %";
  EXPECT_EQ(busy_percent(400, 100, 4), 100U);
  EXPECT_EQ(busy_percent(500, 100, 4), 100U);
  EXPECT_EQ(busy_percent(5, 0, 4), 0U);
  EXPECT_EQ(busy_percent(5, 10, 0), 0U);
  EXPECT_EQ(busy_percent(UINT64_MAX / 4, UINT64_MAX / 2, 1), 50U);
}

TEST(BusyFraction, ACounterThatHasFallenBeganAnew) {
  EXPECT_EQ(counted_since(10, 25, false), 15U);
  EXPECT_EQ(counted_since(10, 4, false), 4U);
  EXPECT_EQ(counted_since(10, 25, true), 25U);
}

TEST(MemoryUse, IsRoundedToPercent) {
  EXPECT_EQ((MemoryUse{1000, 4}).used_percent(), 0U);
  EXPECT_EQ((MemoryUse{1000, 5}).used_percent(), 1U);
  EXPECT_EQ((MemoryUse{64_GiB, 64_GiB}).used_percent(), 100U);
  EXPECT_EQ((MemoryUse{0, 0}).used_percent(), 0U);
}

TEST_F(DeviceTest, ManagementOfAnOwnCardHasTheDriversBooks) {
  const auto card_access = manage(*device);
  Management management(*card_access);
  const auto before = must(management.memory_use());
  ASSERT_THAT(device->allocate(3_GiB), IsOk());
  EXPECT_EQ(management.memory_use()->used - before.used, 3_GiB);
  EXPECT_EQ(management.memory_use()->total, device->memory_statistics().total);
  EXPECT_TRUE(management.processes()->empty());
}

TEST_F(DeviceTest, ManagementDoesNotMakeUpWhatTheFunctionDoesNotShow) {
  const auto card_access = manage(*device);  // the fake's TELEMETRY_CAPABILITY is 0
  Management management(*card_access);
  EXPECT_THAT(management.core_use(CoreKind::kAll), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.core_uses(CoreKind::kAll), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.aicpu_uses(), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.hbm_traffic(), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.hbm_bandwidth_use(), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.link_use(), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.memory_errors(), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.inject_error(0, 1), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(management.inject_error(0, 3), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(DeviceTest, ManagementOfALostCardSaysSo) {
  const auto card_access = manage(*device);
  Management management(*card_access);
  card.remove();
  EXPECT_THAT(management.identity(), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(management.health(), FailsWith(ErrorCode::kDeviceLost));
}

TEST_F(DeviceTest, WhoObservesFindsMemoryInThePageTables) {
  const auto observed = must(observe(fake, card.config().bdf));
  const auto before = must(observed->memory_use());
  EXPECT_EQ(before.used, 64_MiB) << "of the fixture";
  const auto more = device->allocate(3_GiB);
  ASSERT_THAT(more, IsOk());
  EXPECT_EQ(observed->memory_use()->used, 64_MiB + 3_GiB);
  EXPECT_THAT(observed->processes(), FailsWith(ErrorCode::kUnsupported));
}

TEST_F(DeviceTest, WhoObservesNeedsACardThatIsUp) {
  EXPECT_THAT(observe(fake, {9, 0, 0}), FailsWith(ErrorCode::kNotFound));
  device.reset();  // turns memory decoding off again
  EXPECT_THAT(observe(fake, card.config().bdf), FailsWith(ErrorCode::kUnsupported));
}

TEST_F(DeviceTest, ATableBeyondTheMemoryIsABadDevice) {
  auto registers = fake.map_bar(card.config().bdf, 0, 0, 0x6000, platform::Caching::kUncached);
  auto window = must(fake.map_bar(card.config().bdf, 2, 0, 1_MiB, platform::Caching::kUncached));
  EXPECT_THAT(mapped_bytes(**registers, *window), FailsWith(ErrorCode::kBadDevice));
}

}  // namespace
}  // namespace npu::driver
