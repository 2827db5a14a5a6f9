// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/event_reader.hpp"

#include "apps/dsmi/fault_codes.hpp"
#include "tests/unit/dsmi/fake_managed_card.hpp"

namespace npu::dsmi {
namespace {

abi::LoggedEvent event(abi::EventKind kind, abi::Severity severity, std::uint64_t detail = 0) {
  abi::LoggedEvent logged;
  logged.kind = kind;
  logged.severity = severity;
  logged.time_ns = 123;
  logged.address = 0x4000;
  logged.detail = detail;
  return logged;
}

const auto kSingle = event(abi::EventKind::kMemorySingle, abi::Severity::kMinor);
const auto kDouble = event(abi::EventKind::kMemoryDouble, abi::Severity::kCritical);

class EventReaderTest : public testing::Test {
 protected:
  std::optional<dms_fault_event> next(const dsmi_event_filter& filter = {}) {
    return reader.next(management, 1, filter).value();
  }
  FakeManagedCard card;
  driver::Management management{card};
  EventReader reader;
};

TEST_F(EventReaderTest, GivesEachEventOnceInTheirOrder) {
  EXPECT_FALSE(next());
  card.log(kSingle);
  card.log(kDouble);
  const auto first = next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->event_id, DSMI_CODE_HBM_SINGLE_BIT);
  EXPECT_EQ(first->deviceid, 1);
  EXPECT_EQ(first->node_type, DSMI_NODE_TYPE_HBM);
  EXPECT_EQ(first->event_serial_num, 1);
  EXPECT_EQ(first->alarm_raised_time, 123U);
  EXPECT_STREQ(first->additional_info, "0x4000");
  EXPECT_EQ(next()->event_serial_num, 2);
  EXPECT_FALSE(next());
}

TEST_F(EventReaderTest, WhatTheLogHasLostIsLostAndTheRestIsInOrder) {
  for (unsigned i = 0; i < abi::kEventLogRecords + 5; ++i) card.log(kSingle);
  const auto first = next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->event_serial_num, 6);
  EXPECT_EQ(first->notify_serial_num, 1);
  unsigned others = 0;
  while (next()) ++others;
  EXPECT_EQ(others, abi::kEventLogRecords - 1);
}

TEST_F(EventReaderTest, FiltersById) {
  card.log(kSingle);
  card.log(kDouble);
  dsmi_event_filter filter{};
  filter.filter_flag = DSMI_EVENT_FILTER_FLAG_EVENT_ID;
  filter.event_id = DSMI_CODE_HBM_MULTI_BIT;
  EXPECT_EQ(next(filter)->event_serial_num, 2);
  EXPECT_FALSE(next(filter));
}

TEST_F(EventReaderTest, FiltersBySeverityAndNode) {
  card.log(event(abi::EventKind::kFault, abi::Severity::kNotice, 1));
  card.log(kSingle);
  dsmi_event_filter filter{};
  filter.filter_flag = DSMI_EVENT_FILTER_FLAG_SERVERITY | DSMI_EVENT_FILTER_FLAG_NODE_TYPE;
  filter.severity = 1;
  filter.node_type = DSMI_NODE_TYPE_HBM;
  EXPECT_EQ(next(filter)->event_serial_num, 2);
}

TEST_F(EventReaderTest, CountsOnWhereItBegan) {
  card.log(kSingle);
  reader.begin(1);
  EXPECT_FALSE(next());
}

TEST(FaultCodes, EveryFaultOfTheCardHasACodeWithItsName) {
  for (const auto& fault : abi::kFaultNames) {
    if (fault.code == abi::FaultCode::kNone) continue;
    const auto logged = event(abi::EventKind::kFault, abi::Severity::kNotice,
                              static_cast<std::uint64_t>(fault.code));
    EXPECT_EQ(text_of_code(code_of_event(logged)), "fault: " + std::string(fault.name));
  }
  EXPECT_EQ(text_of_code(DSMI_CODE_FAULT), "");
  EXPECT_EQ(text_of_code(DSMI_CODE_FAULT | 0xFFFF), "");
}

}  // namespace
}  // namespace npu::dsmi
