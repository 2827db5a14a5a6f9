// SPDX-License-Identifier: Apache-2.0
#include "registers_bench.hpp"

namespace npu::test {
namespace {

model::ReportedFault fault(abi::FaultCode code) {
  model::ReportedFault report;
  report.code = code;
  report.address = 0x1234'5678'9ABC;
  report.opcode = 2;
  report.engine = 3;
  report.stream = 17;
  report.ring_index = 4095;
  report.vmid = 6;
  report.write = true;
  return report;
}

using CardRegisters = OnBench<RegistersBench>;

TEST_F(CardRegisters, TellWhatTheCardIs) {
  EXPECT_EQ(bench.read<abi::ChipId>().raw, 0xD11019E5u);
  EXPECT_EQ(bench.read<abi::ChipRevision>().raw, 0x00100001u);
  EXPECT_EQ(bench.read<abi::AiCoreCount>().raw, 64u);
  EXPECT_EQ(bench.read<abi::DeviceIndex>().raw, 5u);
  EXPECT_EQ(bench.read<abi::HbmSize>().raw, 16_MiB);
  EXPECT_EQ(bench.read<abi::StreamWindowBase>().raw, 32_MiB);
  EXPECT_EQ(bench.read<abi::StreamCount>().raw, 256u);
  EXPECT_EQ(bench.read<abi::EventCount>().raw, 100u);
  EXPECT_EQ(bench.read<abi::DeviceStatus>().raw, 1u);
}

TEST_F(CardRegisters, CountTheTimeSinceReset) {
  bench.run(3_us);
  EXPECT_EQ(bench.read<abi::DeviceTime>().raw, 3000u);
  bench.registers.function_reset(0);
  bench.run(250_ns);
  EXPECT_EQ(bench.read<abi::DeviceTime>().raw, 250u);
}

TEST_F(CardRegisters, LatchTheFirstFaultAndInterruptOnce) {
  bench.registers.report(fault(abi::FaultCode::kPoisoned));
  bench.registers.report(fault(abi::FaultCode::kNoPeer));
  EXPECT_EQ(bench.read<abi::FaultStatus>().raw, 0b11u);
  EXPECT_EQ(bench.read<abi::FaultCodeRegister>().raw, 0x03020015u);
  EXPECT_EQ(bench.read<abi::FaultAddress>().raw, 0x1234'5678'9ABCu);
  EXPECT_EQ(bench.read<abi::FaultInfo>().raw, 4095u << 16 | 17u);
  EXPECT_EQ(bench.read<abi::FaultAccess>().raw, 0x106u);
  EXPECT_EQ(bench.read<abi::DeviceStatus>().raw, 0b11u);
  EXPECT_EQ(bench.interrupts, std::vector<unsigned>{0});
}

TEST_F(CardRegisters, LatchAnewOnceTheHostHasClearedValid) {
  bench.registers.report(fault(abi::FaultCode::kPoisoned));
  bench.write(abi::FaultStatus::from_raw(0b11));
  EXPECT_EQ(bench.read<abi::FaultStatus>().raw, 0u);
  EXPECT_EQ(bench.read<abi::DeviceStatus>().raw, 1u);
  bench.registers.report(fault(abi::FaultCode::kNoPeer));
  EXPECT_EQ(bench.read<abi::FaultCodeRegister>().get<abi::FaultCodeRegister::Code>(), 0x16u);
  EXPECT_EQ(bench.interrupts.size(), 2u);
}

TEST_F(CardRegisters, EventBlockShowsCountersAndIgnoresWrites) {
  bench.registers.events().complete(99, abi::FaultCode::kNone);
  bench.registers.events().complete(99, abi::FaultCode::kNoPeer);
  std::uint64_t value = 0xFF;
  bench.bar0_access(tlm::TLM_WRITE_COMMAND, 0x2000 + 8 * 99, &value, 8);
  bench.bar0_access(tlm::TLM_READ_COMMAND, 0x2000 + 8 * 99, &value, 8);
  EXPECT_EQ(value, 0x0016'0000'0002u);
  std::uint32_t half = 0;
  bench.bar0_access(tlm::TLM_READ_COMMAND, 0x2000 + 8 * 99 + 4, &half, 4);
  EXPECT_EQ(half, 0x16u);
  bench.bar0_access(tlm::TLM_READ_COMMAND, 0x2000 + 8 * 100, &value, 8);
  EXPECT_EQ(value, 0u) << "beyond the last event";
}

TEST_F(CardRegisters, RefuseMisalignedAndOddSizedAccesses) {
  std::uint32_t value = 0;
  for (const Bytes offset : {Bytes{0x2}, Bytes{0x1001}, Bytes{0x2002}}) {
    EXPECT_EQ(bench.bar0_access(tlm::TLM_READ_COMMAND, offset, &value, 4),
              tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(bench.bar0_access(tlm::TLM_WRITE_COMMAND, offset, &value, 2),
              tlm::TLM_BURST_ERROR_RESPONSE);
  }
}

TEST_F(CardRegisters, ResetRestoresEverything) {
  bench.write(abi::EventRecordBase::from_raw(0x5000));
  bench.registers.report(fault(abi::FaultCode::kPoisoned));
  bench.registers.events().complete(1, abi::FaultCode::kNone);
  bench.registers.function_reset(0);
  EXPECT_EQ(bench.read<abi::EventRecordBase>().raw, 0u);
  EXPECT_EQ(bench.read<abi::FaultStatus>().raw, 0u);
  EXPECT_EQ(bench.registers.events().at(1).raw, 0u);
  EXPECT_EQ(bench.read<abi::StreamCount>().raw, 256u) << "constants stay";
}

}  // namespace
}  // namespace npu::test
