// SPDX-License-Identifier: Apache-2.0
#include "model/telemetry/event_log.hpp"

#include <gtest/gtest.h>

namespace npu::model {
namespace {

abi::LoggedEvent event(abi::Severity severity) {
  abi::LoggedEvent one;
  one.kind = abi::EventKind::kMemorySingle;
  one.severity = severity;
  one.time_ns = 0x1122;
  one.address = 0x3344;
  one.detail = 0x5566;
  return one;
}

TEST(EventLog, ARecordIsFourWords) {
  EventLog log;
  log.add(event(abi::Severity::kMinor));
  EXPECT_EQ(log.word(0), 0x0001'0001'0000'0001ULL) << "severity, kind, number";
  EXPECT_EQ(log.word(1), 0x1122U);
  EXPECT_EQ(log.word(2), 0x3344U);
  EXPECT_EQ(log.word(3), 0x5566U);
}

TEST(EventLog, TheOldestRecordIsOverwritten) {
  EventLog log;
  for (unsigned i = 0; i < abi::kEventLogRecords + 1; ++i) log.add(event(abi::Severity::kNotice));
  EXPECT_EQ(log.count(), abi::kEventLogRecords + 1);
  EXPECT_EQ(log.word(0) & 0xFFFF'FFFF, abi::kEventLogRecords + 1);
  EXPECT_EQ(log.word(4) & 0xFFFF'FFFF, 2U);
}

TEST(EventLog, TheWorstIsOfTheTimeSinceTheResetAndTheCountIsNot) {
  EventLog log;
  log.add(event(abi::Severity::kCritical));
  log.add(event(abi::Severity::kMinor));
  EXPECT_EQ(log.worst(), abi::Severity::kCritical);
  log.function_reset();
  EXPECT_EQ(log.worst(), abi::Severity::kNotice);
  EXPECT_EQ(log.count(), 2U);
}

}  // namespace
}  // namespace npu::model
