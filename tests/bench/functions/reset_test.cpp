// SPDX-License-Identifier: Apache-2.0
// A function level reset of one of two functions while both work.
#include "two_functions.hpp"

namespace npu::test {
namespace {

using abi::DmaOpcode;

constexpr Bytes kLong = 32_MiB;  // a copy takes much longer than the calls around it

class FunctionReset : public testing::TestWithParam<unsigned> {};  // the one that is reset

TEST_P(FunctionReset, LeavesRingAndQueueOfTheOther) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver drivers[2] = {{host, card.bdf(0)}, {host, card.bdf(1)}};
    auto& gone = drivers[GetParam()];
    auto& other = drivers[1 - GetParam()];
    other.memory->write64(0x1000, 0x2222);
    for (auto* each : {&gone, &other}) {
      each->copy(DmaOpcode::kDeviceToDevice, 256_MiB, 512_MiB, kLong);
      each->copy(DmaOpcode::kDeviceToDevice, 0x1000, 0x2000);
      each->push_fill(FunctionDriver::kVirtual, 2_MiB, 0x1111);
    }
    ASSERT_TRUE(host.reset_function(card.bdf(GetParam())));
    EXPECT_TRUE(other.copied(100_ms));
    EXPECT_EQ(other.record().fault(), abi::FaultCode::kNone);
    EXPECT_EQ(other.completed(), 0U);
    EXPECT_EQ(other.memory->read64(0x2000), 0x2222U);
    EXPECT_EQ(other.vector->count(), 2U);
    EXPECT_EQ(other.read<abi::DmaQueueBase>().raw != 0, true);
    EXPECT_EQ(other.fill(FunctionDriver::kVirtual + 4096, 0x3333), 0U);
  });
}

TEST_P(FunctionReset, ForgetsWhatTheFunctionHadBegun) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver drivers[2] = {{host, card.bdf(0)}, {host, card.bdf(1)}};
    auto& gone = drivers[GetParam()];
    // Its own last: its fill is not over when the reset comes.
    for (auto* each : {&drivers[1 - GetParam()], &gone}) {
      for (unsigned i = 0; i < 6; ++i) {
        each->copy(DmaOpcode::kDeviceToDevice, 256_MiB, 512_MiB, kLong);
      }
      each->push_fill(FunctionDriver::kVirtual, 2_MiB, 0x1111);
    }
    ASSERT_TRUE(host.reset_function(card.bdf(GetParam())));
    host.clock().sleep_until(host.clock().now() + 1_ms);
    EXPECT_EQ(gone.record().count(), 0U);
    EXPECT_EQ(gone.completed(10_us), std::nullopt);
    host.pci().write16(card.bdf(GetParam()), abi::pci::kCommand,
                       abi::pci::kCommandMemory | abi::pci::kCommandBusMaster);
    EXPECT_EQ(gone.read<abi::DmaQueueBase>().raw, 0U);
    EXPECT_EQ(gone.read<abi::MmuContextBase>().raw, 0U);
    // It starts anew, as after power-up.
    gone.memory->write64(0x1000, 0x4444);
    gone.start_ring();
    gone.copy(DmaOpcode::kDeviceToDevice, 0x1000, 0x2000);
    EXPECT_TRUE(gone.copied(100_ms));
    EXPECT_EQ(gone.memory->read64(0x2000), 0x4444U);
    EXPECT_TRUE(drivers[1 - GetParam()].copied(100_ms));
  });
}

INSTANTIATE_TEST_SUITE_P(Of, FunctionReset, testing::Values(0U, 1U));

}  // namespace
}  // namespace npu::test
