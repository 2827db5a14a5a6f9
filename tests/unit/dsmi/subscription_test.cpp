// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "tests/unit/dsmi/fake_managed_card.hpp"

namespace npu::dsmi {
namespace {

std::atomic<unsigned> heard{0};

void hear(dsmi_event* event) {
  unsigned health = 0;
  EXPECT_EQ(dsmi_get_device_health(event->event_t.dms_event.deviceid, &health), DSMI_OK)
      << "a handler may ask";
  ++heard;
}

// Real threads; the fake's registers are the test's own between its looks.
TEST_F(DsmiTest, ASubscriptionEndsWithTheAttachment) {
  heard = 0;
  ASSERT_EQ(dsmi_subscribe_fault_event(0, {}, hear), DSMI_OK);
  ASSERT_EQ(dsmi_subscribe_fault_event(0, {}, hear), DSMI_OK) << "in place of the first";
  EXPECT_EQ(dsmi_subscribe_fault_event(2, {}, hear), DSMI_ERROR_INVALID_DEVICE);
  detach();
  EXPECT_EQ(heard, 0U);
  EXPECT_EQ(dsmi_subscribe_fault_event(0, {}, hear), DSMI_ERROR_NO_DEVICE);
}

TEST_F(DsmiTest, ReadingAnEventWaitsNoLongerThanItIsTold) {
  dsmi_event event{};
  const auto began = wall_clock().now();
  EXPECT_EQ(dsmi_read_fault_event(0, 20, {}, &event), DSMI_ERROR_TIMEOUT);
  EXPECT_GE(wall_clock().now() - began, 20_ms);
  EXPECT_EQ(dsmi_read_fault_event(0, -1, {}, &event), DSMI_ERROR_PARAMETER);
}

}  // namespace
}  // namespace npu::dsmi
