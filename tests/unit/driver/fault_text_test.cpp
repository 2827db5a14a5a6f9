// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/fault_text.hpp"

#include <gtest/gtest.h>

namespace npu::driver {
namespace {

// As the queue's descriptor has it, which does not say which access it was.
QueueFault fault_of(abi::FaultCode code) {
  QueueFault fault;
  fault.code = code;
  fault.address = 0x1000;
  return fault;
}

TEST(FaultText, ACompletionRingIsWritten) {
  EXPECT_EQ(place_of(fault_of(abi::FaultCode::kCompletionRing)), "write of 0x1000");
}

TEST(FaultText, ARingIsReadAndMemoryAsItWasAccessed) {
  EXPECT_EQ(place_of(fault_of(abi::FaultCode::kRingFetch)), "read of 0x1000");
  auto fault = fault_of(abi::FaultCode::kDevicePermission);
  fault.write = true;
  EXPECT_EQ(place_of(fault), "write of 0x1000");
}

}  // namespace
}  // namespace npu::driver
