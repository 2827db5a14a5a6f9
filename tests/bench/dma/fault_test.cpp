// SPDX-License-Identifier: Apache-2.0
// Commands and doorbells that must fail, what they leave behind, and that the rest goes on.
#include "dma_bench.hpp"

namespace npu::test {
namespace {

using model::Completion;

// Submits `entry` (on stream 1 unless it says otherwise) and a good command of stream 0 behind it.
void expect_fault(const DmaEntry& entry, FaultCode code, std::uint64_t address, DmaBench& bench) {
  const auto before = bench.event(0).count();
  bench.push(entry);
  bench.push(make_entry(kD2d, 0, 0x1000, 64, 0, 0));
  bench.ring_doorbell();
  bench.run(1_ms);
  if (entry.event < 256) {
    EXPECT_EQ(bench.event(entry.event).fault(), code);
    EXPECT_EQ(bench.event_record(entry.event).raw, bench.event(entry.event).raw);
    EXPECT_EQ(bench.event(entry.event).count(), 1u);
  }
  const auto latched = bench.read<abi::FaultCodeRegister>();
  EXPECT_EQ(latched.get<abi::FaultCodeRegister::Code>(), static_cast<unsigned>(code));
  EXPECT_EQ(latched.get<abi::FaultCodeRegister::Opcode>(), entry.opcode);
  EXPECT_EQ(bench.read<abi::FaultAddress>().raw, address);
  EXPECT_EQ(bench.read<abi::FaultInfo>().get<abi::FaultInfo::Stream>(), entry.stream);
  EXPECT_EQ(bench.event(0).raw, before + 1) << "the queue goes on";
  EXPECT_EQ(bench.interrupts.at(0).vector, 0u);
  EXPECT_EQ(bench.dma.statistics().faults, 1u);
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

void expect_fault(const DmaEntry& entry, FaultCode code, std::uint64_t address = 0) {
  DmaBench bench;
  bench.enable(2);
  expect_fault(entry, code, address, bench);
}

// The host ends requests at `bus` with `completion`.
void expect_host_fault(DmaOpcode opcode, Completion completion, FaultCode code) {
  DmaBench bench;
  bench.enable(2);
  constexpr std::uint64_t kBad = 0x22000;
  bench.host.verdict = [&](tlm::tlm_generic_payload& trans) {
    const bool bad = trans.get_address() >= kBad && trans.get_address() < kBad + 512;
    if (!bad && trans.is_write()) {
      std::memcpy(&bench.host.bytes[trans.get_address()], trans.get_data_ptr(),
                  trans.get_data_length());
    }
    return bad ? completion : Completion::kSuccess;
  };
  const bool to_host = opcode == kD2h;
  expect_fault(make_entry(opcode, to_host ? 0 : kBad - 8192, to_host ? kBad : 0, 64_KiB, 1, 7),
               code, kBad, bench);
}

TEST(DmaFault, InvalidOpcode) {
  auto entry = make_entry(kH2d, 0, 0, 64, 1, 7);
  entry.opcode = 0x05;
  expect_fault(entry, FaultCode::kInvalidOpcode);
}
TEST(DmaFault, StreamNotEnabled) {
  expect_fault(make_entry(kH2d, 0, 0, 64, 2, 7), FaultCode::kInvalidStream);
}
TEST(DmaFault, StreamBeyondCount) {
  expect_fault(make_entry(kH2d, 0, 0, 64, 64, 7), FaultCode::kInvalidStream);
}
TEST(DmaFault, SizeZero) {
  expect_fault(make_entry(kH2d, 0, 0, 0, 1, 7), FaultCode::kInvalidSize);
}
TEST(DmaFault, SourcePlusSizeOverflows) {
  expect_fault(make_entry(kH2d, ~0ULL - 10, 0, 64, 1, 7), FaultCode::kInvalidSize);
}
TEST(DmaFault, DestinationPlusSizeOverflows) {
  expect_fault(make_entry(kD2h, 0, ~0ULL - 10, 64, 1, 7), FaultCode::kInvalidSize);
}
TEST(DmaFault, EventBeyondCount) {
  expect_fault(make_entry(kH2d, 0, 0, 64, 1, 256), FaultCode::kInvalidEvent);
}
TEST(DmaFault, DestinationBeyondDeviceMemory) {
  expect_fault(make_entry(kH2d, 0, kInstalled - 63, 64, 1, 7), FaultCode::kDeviceAddress,
               kInstalled - 63);
}
TEST(DmaFault, SourceBeyondDeviceMemory) {
  expect_fault(make_entry(kD2h, kInstalled, 0, 1, 1, 7), FaultCode::kDeviceAddress, kInstalled);
}
TEST(DmaFault, CopySourceBeyondDeviceMemory) {
  expect_fault(make_entry(kD2d, kInstalled, 0, 1, 1, 7), FaultCode::kDeviceAddress, kInstalled);
}
TEST(DmaFault, CopyDestinationBeyondDeviceMemory) {
  expect_fault(make_entry(kD2d, 0, kInstalled, 1, 1, 7), FaultCode::kDeviceAddress, kInstalled);
}
TEST(DmaFault, PeerWithoutLink) {
  expect_fault(make_entry(DmaOpcode::kPeerToPeer, 0, 0, 64, 1, 7), FaultCode::kNoPeer);
}
TEST(DmaFault, HostReadOfUnmappedMemory) {
  expect_host_fault(kH2d, Completion::kUnsupportedRequest, FaultCode::kHostAddress);
}
TEST(DmaFault, HostReadForbidden) {
  expect_host_fault(kH2d, Completion::kPermission, FaultCode::kHostPermission);
}
TEST(DmaFault, HostReadNeverAnswered) {
  expect_host_fault(kH2d, Completion::kTimeout, FaultCode::kCompletionTimeout);
}
TEST(DmaFault, HostReadPoisoned) {
  expect_host_fault(kH2d, Completion::kPoisoned, FaultCode::kPoisoned);
}
TEST(DmaFault, BusMasterDisabled) {
  expect_host_fault(kH2d, Completion::kCompleterAbort, FaultCode::kBusMasterDisabled);
}
TEST(DmaFault, HostWriteOfUnmappedMemory) {
  expect_host_fault(kD2h, Completion::kUnsupportedRequest, FaultCode::kHostAddress);
}
TEST(DmaFault, HostWriteForbidden) {
  expect_host_fault(kD2h, Completion::kPermission, FaultCode::kHostPermission);
}

TEST(DmaFault, RefusedHostWriteLeavesNoByte) {
  DmaBench bench;
  bench.enable();
  bench.fill_random(bench.hbm.bytes, 0, 4096);
  bench.submit(make_entry(kD2h, 0, kHostBytes - 2048, 4096, 1, 7));  // the mapping ends in between
  bench.run(1_ms);
  EXPECT_EQ(bench.event(7).fault(), FaultCode::kHostAddress);
  for (std::uint64_t i = kHostBytes - 2048; i < kHostBytes; ++i) EXPECT_EQ(bench.host.bytes[i], 0);
}

TEST(DmaFault, SecondFaultOnlySetsOverflowAndDoesNotInterrupt) {
  DmaBench bench;
  bench.enable();
  bench.push(make_entry(kH2d, 0, 0, 0, 1, 7));
  bench.push(make_entry(DmaOpcode::kPeerToPeer, 0, 0, 64, 1, 8));
  bench.ring_doorbell();
  bench.run(1_ms);
  EXPECT_EQ(bench.read<abi::FaultStatus>().raw, 3u);
  EXPECT_EQ(bench.read<abi::FaultCodeRegister>().get<abi::FaultCodeRegister::Code>(),
            static_cast<unsigned>(FaultCode::kInvalidSize));
  EXPECT_EQ(bench.interrupts.size(), 1u);
  EXPECT_EQ(bench.event(8).fault(), FaultCode::kNoPeer);
}

TEST(DmaFault, DoorbellBeyondTheRingHaltsUntilEnabledAnew) {
  DmaBench bench;
  bench.enable();
  bench.write(abi::DmaDoorbell::from_raw(abi::kRingEntries));
  bench.submit(make_entry(kD2d, 0, 0x1000, 64, 0, 1));
  bench.run(1_ms);
  EXPECT_EQ(bench.read<abi::FaultCodeRegister>().get<abi::FaultCodeRegister::Code>(),
            static_cast<unsigned>(FaultCode::kDoorbellRange));
  EXPECT_EQ(bench.read<abi::FaultAddress>().raw, abi::kRingEntries);
  EXPECT_EQ(bench.read<abi::DmaQueueStatus>().get<abi::DmaQueueStatus::Halted>(), 1u);
  EXPECT_EQ(bench.event(1).count(), 0u);
  bench.enable_queue();
  bench.submit(make_entry(kD2d, 0, 0x1000, 64, 0, 1));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 1u);
}

TEST(DmaFault, UnreadableRingHalts) {
  DmaBench bench;
  bench.enable(2, true);
  bench.host.verdict = [](tlm::tlm_generic_payload&) { return Completion::kUnsupportedRequest; };
  bench.submit(make_entry(kD2d, 0, 0x1000, 64, 0, 1));
  bench.run(1_ms);
  EXPECT_EQ(bench.read<abi::FaultCodeRegister>().get<abi::FaultCodeRegister::Code>(),
            static_cast<unsigned>(FaultCode::kRingFetch));
  EXPECT_EQ(bench.read<abi::FaultAddress>().raw, bench.ring_base);
  EXPECT_EQ(bench.read<abi::DmaQueueStatus>().get<abi::DmaQueueStatus::Halted>(), 1u);
}

TEST(DmaFault, RingBeyondDeviceMemoryHalts) {
  DmaBench bench;
  bench.enable();
  bench.write(abi::DmaQueueBase::from_raw(kInstalled));
  bench.enable_queue();
  bench.write(abi::DmaDoorbell::from_raw(1));
  bench.run(1_ms);
  EXPECT_EQ(bench.read<abi::FaultCodeRegister>().get<abi::FaultCodeRegister::Code>(),
            static_cast<unsigned>(FaultCode::kRingFetch));
  EXPECT_TRUE(bench.hbm.seen.empty());
}

TEST(DmaFault, EnablingAnewClearsEventFaultsButNotCounts) {
  DmaBench bench;
  bench.enable();
  bench.submit(make_entry(kH2d, 0, 0, 0, 1, 7));
  bench.run(1_ms);
  bench.enable_queue();
  EXPECT_EQ(bench.event(7).raw, 1u);
}

}  // namespace
}  // namespace npu::test
