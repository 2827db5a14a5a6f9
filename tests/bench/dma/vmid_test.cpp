// SPDX-License-Identifier: Apache-2.0
// Commands of streams with an address space: their device addresses are virtual.
#include "dma_bench.hpp"

namespace npu::test {
namespace {

constexpr unsigned kVmid = 5, kStream = 1;
constexpr std::uint64_t kPage = 2_MiB;
constexpr std::uint64_t kVirtual = 0x7000'0000'0000;
constexpr std::uint64_t kSource = 1_MiB + 3;  // in host memory, beyond the event records

// Stream 0 is physical, stream 1 of `kVmid`, stream 2 of the next.
class VmidBench : public DmaBench {
 public:
  explicit VmidBench(bool with_mmu = true) : DmaBench(dma_chip_config(), with_mmu) {
    enable();
    enable_stream(kStream, 2, kVmid);
    enable_stream(2, 3, kVmid + 1);
    write(abi::MmuContextBase::from_raw(VirtualMemory::kContext));
  }
  // Page `page` of the address space lies in page `to` of the card.
  void map(unsigned page, unsigned to, bool read = true, bool write = true) {
    paging->tables.map(kVmid, kVirtual + page * kPage, to * kPage, read, write);
  }
  void expect_record(FaultCode code, std::uint64_t address, unsigned vmid, bool is_write) {
    const auto fault = read<abi::FaultCodeRegister>();
    EXPECT_EQ(fault.get<abi::FaultCodeRegister::Code>(), static_cast<unsigned>(code));
    EXPECT_EQ(read<abi::FaultAddress>().raw, address);
    EXPECT_EQ(read<abi::FaultAccess>().get<abi::FaultAccess::Vmid>(), vmid);
    EXPECT_EQ(read<abi::FaultAccess>().get<abi::FaultAccess::Write>(), is_write ? 1u : 0u);
  }
};

TEST(DmaVmid, DeviceAccessesCarryTheStreamsVmidAndFetchesNone) {
  VmidBench bench(false);
  bench.push(make_entry(kD2d, 0, 1_MiB, 4096, kStream));
  bench.push(make_entry(kD2d, 0, 2_MiB, 4096, 0));
  bench.ring_doorbell();
  bench.run(1_ms);
  const auto seen = bench.hbm.seen;
  EXPECT_EQ(seen[0].vmid, 0u) << "the fetch";
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), [](auto& s) { return s.vmid == kVmid; }), 8);
  EXPECT_EQ(seen.size(), 1u + 8 + 8);
}

TEST(DmaVmid, CopiesReachTheMappedPages) {
  VmidBench bench;
  bench.map(0, 20);
  bench.map(1, 7);
  bench.map(2, 30);
  bench.fill_random(bench.host.bytes, kSource, 4_MiB);
  const std::uint64_t odd = kVirtual + 0x1FF77;
  bench.push(make_entry(kH2d, kSource, odd, 4_MiB, kStream, 1));
  bench.push(make_entry(kD2h, odd, 10_MiB, 4_MiB, kStream, 2));
  bench.ring_doorbell();
  bench.run(50_ms);
  EXPECT_EQ(bench.event(1).raw, 1u);
  EXPECT_EQ(bench.event(2).raw, 1u);
  const auto* const source = &bench.host.bytes[kSource];
  const std::uint64_t head = kPage - 0x1FF77;
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[20 * kPage + 0x1FF77], source, head));
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[7 * kPage], source + head, kPage));
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[30 * kPage], source + head + kPage, 0x1FF77));
  EXPECT_EQ(0, std::memcmp(&bench.host.bytes[10_MiB], source, 4_MiB));
}

TEST(DmaVmid, CopyInsideTheAddressSpace) {
  VmidBench bench;
  bench.map(0, 20);
  bench.map(9, 3);
  bench.map(10, 2);
  bench.fill_random(bench.hbm.bytes, 20 * kPage, 100'000);
  const std::uint64_t target = kVirtual + 10 * kPage - 333;
  bench.submit(make_entry(kD2d, kVirtual, target, 100'000, kStream, 1));
  bench.run(5_ms);
  EXPECT_EQ(bench.event(1).raw, 1u);
  const auto* const source = &bench.hbm.bytes[20 * kPage];
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[4 * kPage - 333], source, 333));
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[2 * kPage], source + 333, 100'000 - 333));
}

TEST(DmaVmid, TheVmidCountsThatEnableLatched) {
  VmidBench bench;
  bench.map(0, 20);
  const std::uint32_t other = kVmid + 1;
  unsigned char raw[4];
  std::memcpy(raw, &other, 4);
  bench.registers.streams().host_write(kStream * abi::kStreamWindowSize + abi::StreamVmid::kOffset,
                                       raw, 4);
  bench.submit(make_entry(kH2d, 0, kVirtual, 64, kStream, 1));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 1u);
  bench.enable_stream(kStream, 2, other);
  bench.submit(make_entry(kH2d, 0, kVirtual, 64, kStream, 2));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(2).fault(), FaultCode::kTranslation);
}

TEST(DmaVmid, VmidThatDoesNotExistIsAnInvalidStream) {
  VmidBench bench;
  bench.enable_stream(3, 4, abi::kVmids);
  bench.submit(make_entry(kH2d, 0, 0, 64, 3, 1));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).fault(), FaultCode::kInvalidStream);
  bench.expect_record(FaultCode::kInvalidStream, 0, 0, false);
}

TEST(DmaVmid, RangeBeyondFortyEightBitsIsADeviceAddressFault) {
  VmidBench bench;
  const std::uint64_t end = 1ULL << 48;
  bench.submit(make_entry(kD2d, kVirtual, end - 63, 64, kStream, 1));
  bench.run(1_ms);
  bench.expect_record(FaultCode::kDeviceAddress, end - 63, kVmid, true);
  EXPECT_EQ(bench.paging->mmu.statistics().misses, 0u);
}

TEST(DmaVmid, FaultRecordNamesTheAccess) {
  VmidBench bench;
  bench.map(0, 20);
  bench.push(make_entry(kD2d, 0, 4096, 64, 0));
  bench.push(make_entry(kD2h, kVirtual + kPage - 4096, 1_MiB, 64_KiB, kStream, 1));
  bench.ring_doorbell();
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).fault(), FaultCode::kTranslation);
  bench.expect_record(FaultCode::kTranslation, kVirtual + kPage, kVmid, false);
  const auto code = bench.read<abi::FaultCodeRegister>();
  EXPECT_EQ(code.get<abi::FaultCodeRegister::Opcode>(), static_cast<unsigned>(kD2h));
  EXPECT_LT(code.get<abi::FaultCodeRegister::Engine>(), 4u);
  const auto info = bench.read<abi::FaultInfo>();
  EXPECT_EQ(info.get<abi::FaultInfo::Stream>(), kStream);
  EXPECT_EQ(info.get<abi::FaultInfo::RingIndex>(), 1u);
  ASSERT_EQ(bench.interrupts.size(), 1u);
  EXPECT_EQ(bench.interrupts[0].vector, 0u);
}

TEST(DmaVmid, WriteWithoutTheRight) {
  VmidBench bench;
  bench.map(0, 20);
  bench.map(1, 21, true, false);
  bench.submit(make_entry(kD2d, kVirtual + kPage, kVirtual, 4096, kStream, 1));
  bench.submit(make_entry(kD2d, kVirtual, kVirtual + kPage + 77, 4096, kStream, 2));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 1u) << "it may be read";
  EXPECT_EQ(bench.event(2).fault(), FaultCode::kDevicePermission);
  bench.expect_record(FaultCode::kDevicePermission, kVirtual + kPage + 77, kVmid, true);
}

TEST(DmaVmid, MalformedTable) {
  VmidBench bench;
  bench.paging->tables.set(kVmid, kVirtual, 2, abi::PageTableEntry::page(0, true, true).raw);
  bench.submit(make_entry(kH2d, 0, kVirtual, 64, kStream, 1));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).fault(), FaultCode::kPageTable);
  bench.expect_record(FaultCode::kPageTable, kVirtual, kVmid, true);
}

TEST(DmaVmid, HostSideFaultsHaveNoVmid) {
  VmidBench bench;
  bench.map(0, 20);
  bench.submit(make_entry(kD2h, kVirtual, kHostBytes, 64, kStream, 1));
  bench.run(1_ms);
  bench.expect_record(FaultCode::kHostAddress, kHostBytes, 0, true);
}

// Everything of device memory but [begin, end) is as it was.
void expect_unchanged_outside(const DmaBench& bench, const std::vector<unsigned char>& before,
                              std::uint64_t begin, std::uint64_t end) {
  EXPECT_EQ(0, std::memcmp(bench.hbm.bytes.data(), before.data(), begin));
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[end], &before[end], kUsable - end));
}

TEST(DmaVmid, FaultInTheMiddleOfACopyTouchesNothingElse) {
  VmidBench bench;
  bench.map(0, 20);
  bench.map(4, 10);
  bench.map(6, 12);  // page 5 is not there
  bench.fill_random(bench.hbm.bytes, 20 * kPage, kPage);
  bench.fill_random(bench.hbm.bytes, 10 * kPage, 3 * kPage);
  const std::uint64_t head = 100'000;
  bench.submit(make_entry(kD2d, kVirtual, kVirtual + 5 * kPage - head, kPage, kStream, 1));
  const std::vector<unsigned char> before(bench.hbm.bytes.data(), bench.hbm.bytes.data() + kUsable);
  bench.run(5_ms);
  EXPECT_EQ(bench.event(1).fault(), FaultCode::kTranslation);
  bench.expect_record(FaultCode::kTranslation, kVirtual + 5 * kPage, kVmid, true);
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[11 * kPage - head], &before[20 * kPage], 65'536))
      << "what came before was copied";
  expect_unchanged_outside(bench, before, 11 * kPage - head, 11 * kPage);
}

TEST(DmaVmid, OtherStreamsGoOnBesideAFault) {
  VmidBench bench;
  bench.map(0, 20);
  bench.paging->tables.map(kVmid + 1, kVirtual, 8 * kPage);
  bench.fill_random(bench.host.bytes, kSource, 1_MiB);
  bench.push(make_entry(kH2d, kSource, kVirtual + kPage - 64_KiB, 1_MiB, kStream, 1));
  bench.push(make_entry(kH2d, kSource, kVirtual, 1_MiB, 2, 2));
  bench.push(make_entry(kH2d, kSource, 2 * kPage, 1_MiB, 0, 3));
  bench.push(make_entry(kH2d, kSource, kVirtual, 64_KiB, kStream, 4));
  bench.ring_doorbell();
  bench.run(20_ms);
  EXPECT_EQ(bench.event(1).fault(), FaultCode::kTranslation);
  for (unsigned event = 2; event <= 4; ++event) EXPECT_EQ(bench.event(event).raw, 1u) << event;
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[8 * kPage], &bench.host.bytes[kSource], 1_MiB));
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[2 * kPage], &bench.host.bytes[kSource], 1_MiB));
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[20 * kPage], &bench.host.bytes[kSource], 64_KiB));
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

TEST(DmaVmid, ResetWhileWritesWaitForAWalkMovesNothingLater) {
  VmidBench bench;
  bench.map(0, 20);
  bench.fill_random(bench.host.bytes, kSource, 64_KiB);
  bench.paging->walked.answer = false;
  bench.submit(make_entry(kH2d, kSource, kVirtual, 64_KiB, kStream, 1));
  bench.run(100_us);
  EXPECT_GT(bench.paging->mmu.statistics().misses, 0u);
  bench.registers.function_reset(0);
  bench.ring.reset();
  bench.dma.function_reset(0);
  bench.paging->mmu.function_reset(0);
  bench.paging->walked.answer_kept();
  bench.run(1_ms);
  for (unsigned i = 0; i < 64_KiB; ++i) ASSERT_EQ(bench.hbm.bytes[20 * kPage + i], 0);
  EXPECT_EQ(bench.event(1).raw, 0u);
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

}  // namespace
}  // namespace npu::test
