// SPDX-License-Identifier: Apache-2.0

#include "tests/system/management/managed_card.hpp"

namespace npu::test {
namespace {

constexpr dsmi_event_filter kAll{};

// Something that the card reports: a doorbell of nobody's, a bad DMA command.
void make_fault(SupervisedCard& managed, platform::Platform& host) {
  auto& device = *managed.card.device;
  const auto stream = must(device.create_stream());
  const auto command = driver::DmaCommand::device_to_device({1_GiB}, {2_GiB}, 4096);  // not mapped
  EXPECT_FALSE(
      device.copy(stream, command, driver::WaitPolicy::kPolling, host.clock().now() + 1_s));
}

TEST(DsmiEvents, AFaultIsReadOnceWithItsCodeAndTime) {
  Machine().run([](platform::Platform& host) {
    SupervisedCard managed(host);
    make_fault(managed, host);
    dsmi_event event{};
    ASSERT_EQ(dsmi_read_fault_event(0, 0, kAll, &event), DSMI_OK);
    const auto& told = event.event_t.dms_event;
    EXPECT_EQ(told.event_id, DSMI_CODE_FAULT | static_cast<unsigned>(abi::FaultCode::kTranslation));
    EXPECT_EQ(told.deviceid, 0);
    EXPECT_EQ(told.severity, 0);
    EXPECT_GT(told.alarm_raised_time, 0U);
    EXPECT_STREQ(told.event_name, "fault: device address not mapped");
    EXPECT_EQ(dsmi_read_fault_event(0, 0, kAll, &event), DSMI_ERROR_TIMEOUT);
  });
}

TEST(DsmiEvents, ReadingWaitsAsLongAsItIsTold) {
  Machine().run([](platform::Platform& host) {
    SupervisedCard managed(host);
    dsmi_event event{};
    const auto began = host.clock().now();
    EXPECT_EQ(dsmi_read_fault_event(0, 5, kAll, &event), DSMI_ERROR_TIMEOUT);
    EXPECT_GE(host.clock().now() - began, 5_ms);
    EXPECT_LT(host.clock().now() - began, 6_ms);
  });
}

TEST(DsmiEvents, TheFilterLetsNothingElseThrough) {
  Machine().run([](platform::Platform& host) {
    SupervisedCard managed(host);
    make_fault(managed, host);
    dsmi_event_filter filter{};
    filter.filter_flag = DSMI_EVENT_FILTER_FLAG_SERVERITY;
    filter.severity = 1;
    dsmi_event event{};
    EXPECT_EQ(dsmi_read_fault_event(0, 0, filter, &event), DSMI_ERROR_TIMEOUT);
  });
}

std::vector<unsigned> heard;

void hear(dsmi_event* event) {
  heard.push_back(event->event_t.dms_event.event_id);
}

TEST(DsmiEvents, ASubscriberIsCalledForEachEventThatComes) {
  Machine().run([](platform::Platform& host) {
    SupervisedCard managed(host);
    make_fault(managed, host);
    ASSERT_EQ(dsmi_subscribe_fault_event(0, kAll, hear), DSMI_OK);
    managed.card.pass(3_ms);
    EXPECT_TRUE(heard.empty()) << "that was before";
    make_fault(managed, host);
    make_fault(managed, host);
    managed.card.pass(3_ms);
    EXPECT_EQ(heard, std::vector<unsigned>(
                         2, DSMI_CODE_FAULT | static_cast<unsigned>(abi::FaultCode::kTranslation)));
  });
}

}  // namespace
}  // namespace npu::test
