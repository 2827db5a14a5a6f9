// SPDX-License-Identifier: Apache-2.0
// Golden values of the BAR layout, the ring entry, event records, fault codes and ids, typed by
// hand from the specification.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "npu/abi/dma.hpp"
#include "npu/abi/event.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/identity.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"

namespace npu::abi {
namespace {

TEST(GoldenLayout, Bar0) {
  EXPECT_EQ(kRegisterBar, 0U);
  EXPECT_EQ(kMemoryBar, 2U);
  EXPECT_EQ(kBar0Size, 32768U);  // requirements.md M1
  EXPECT_EQ(kGlobalBlock, 0x0000U);
  EXPECT_EQ(kDmaBlock, 0x1000U);
  EXPECT_EQ(kEventBlock, 0x2000U);
  EXPECT_EQ(kEventStride, 8U);
  EXPECT_EQ(event_register_offset(0), 0x2000U);  // M3: 0x2000 + 8 id
  EXPECT_EQ(event_register_offset(2047), 0x5FF8U);
  EXPECT_EQ(kMsixTableOffset, 0x6000U);
  EXPECT_EQ(kMsixPbaOffset, 0x7000U);
  EXPECT_EQ(kMaxVectors, 256U);
  EXPECT_EQ(kMaxEvents, 2048U);
  EXPECT_EQ(kAbiVersion, 1U);
}

TEST(GoldenLayout, TelemetryWindows) {
  EXPECT_EQ(kCoreBusyWindow.offset, 0x0800U);
  EXPECT_EQ(kCoreBusyWindow.end(), 0x1000U);  // 256 cores
  EXPECT_EQ(kAicpuBusyWindow.offset, 0x1100U);
  EXPECT_EQ(kAicpuBusyWindow.end(), 0x1300U);  // 64 AICPUs
  EXPECT_EQ(kChipNameWindow.offset, 0x1300U);
  EXPECT_EQ(kChipNameWindow.end(), 0x1320U);
  EXPECT_EQ(kSpaceBusyWindow.offset, 0x1A00U);
  EXPECT_EQ(kSpaceBusyWindow.end(), 0x1A98U);  // 19 address spaces
  EXPECT_EQ(kHccsSentWindow.offset, 0x1C00U);
  EXPECT_EQ(kHccsReceivedWindow.offset, 0x1E00U);
  EXPECT_EQ(kHccsReceivedWindow.end(), 0x2000U);
  EXPECT_EQ(kEventLogWindow.offset, 0x1400U);
  EXPECT_EQ(kEventLogWindow.end(), 0x1800U);  // 32 records of 32 bytes
  EXPECT_EQ(kIsolatedPagesWindow.offset, 0x1800U);
  EXPECT_EQ(kIsolatedPagesWindow.end(), 0x1A00U);  // 64 pages
  EXPECT_EQ(kEccSinglesOfPage, 8U);
}

TEST(GoldenLayout, LoggedEvent) {
  EXPECT_EQ(offsetof(LoggedEvent, number), 0U);
  EXPECT_EQ(offsetof(LoggedEvent, kind), 4U);
  EXPECT_EQ(offsetof(LoggedEvent, severity), 6U);
  EXPECT_EQ(offsetof(LoggedEvent, time_ns), 8U);
  EXPECT_EQ(offsetof(LoggedEvent, address), 16U);
  EXPECT_EQ(offsetof(LoggedEvent, detail), 24U);
  EXPECT_EQ(static_cast<int>(EventKind::kMemorySingle), 1);
  EXPECT_EQ(static_cast<int>(EventKind::kMemoryDouble), 2);
  EXPECT_EQ(static_cast<int>(EventKind::kFault), 3);
  EXPECT_EQ(static_cast<int>(EventKind::kReset), 4);
  EXPECT_EQ(static_cast<int>(EventKind::kTemperature), 5);
  EXPECT_EQ(static_cast<int>(Severity::kNotice), 0);
  EXPECT_EQ(static_cast<int>(Severity::kCritical), 3);
}

TEST(GoldenLayout, Bar2) {
  EXPECT_EQ(kReservedRingOffset, 0U);
  EXPECT_EQ(kReservedStreamOffset, 0x100'0000U);
  EXPECT_EQ(kReservedContextOffset, 0x400'0000U);
  EXPECT_EQ(kReservedTableOffset, 0x410'0000U);
  EXPECT_EQ(kReservedTableSize, 0x1F0'0000U);  // up to 96 MiB
  EXPECT_EQ(kStreamWindowSize, 0x8000U);       // M4: 32 KiB
  EXPECT_EQ(kMaxStreams, 1024U);
}

TEST(GoldenIds, VendorAndDevices) {
  EXPECT_EQ(kVendorId, 0x19E5);  // M1
  EXPECT_EQ(kDevice910, 0xD100);
  EXPECT_EQ(kDevice910b, 0xD110);
  EXPECT_EQ(kDevice950, 0xD200);
  EXPECT_EQ(kDeviceShipping910a, 0xD801);  // hardware.md H9
  EXPECT_EQ(kDeviceShipping910b, 0xD802);
  EXPECT_EQ(kDeviceShipping910c, 0xD803);
  EXPECT_EQ(kDeviceVirtual, 0xD805);
  EXPECT_EQ(kDeviceShipping950, 0xD806);
  EXPECT_EQ(kClassProcessingAccelerator, 0x120000U);
  for (const int npu : {0xD100, 0xD110, 0xD200, 0xD801, 0xD802, 0xD803, 0xD806}) {
    EXPECT_TRUE(is_npu_device(static_cast<std::uint16_t>(npu))) << std::hex << npu;
  }
  for (const int other : {0xD101, 0xD800, 0xD804, 0xD807, 0xFFFF}) {
    EXPECT_FALSE(is_npu_device(static_cast<std::uint16_t>(other))) << std::hex << other;
  }
}

TEST(GoldenRing, Sizes) {
  EXPECT_EQ(kRingEntries, 4096U);  // M3
  EXPECT_EQ(kRingEntrySize, 32U);
  EXPECT_EQ(sizeof(DmaEntry), 32U);
}

TEST(GoldenRing, Opcodes) {
  EXPECT_EQ(static_cast<int>(DmaOpcode::kHostToDevice), 1);  // M3
  EXPECT_EQ(static_cast<int>(DmaOpcode::kDeviceToHost), 2);
  EXPECT_EQ(static_cast<int>(DmaOpcode::kDeviceToDevice), 3);
  EXPECT_EQ(static_cast<int>(DmaOpcode::kPeerToPeer), 4);
  EXPECT_EQ(static_cast<int>(DmaOpcode::kFill), 5);
  EXPECT_EQ(static_cast<int>(DmaOpcode::kPrefetch), 6);
  EXPECT_EQ(kDmaFlagInterrupt, 1);
  EXPECT_EQ(kNoEvent, 0xFFFFFFFFU);
}

TEST(GoldenRing, OperationsOfTheOpcodes) {
  const auto row = [](int opcode) { return find_dma_operation(static_cast<std::uint8_t>(opcode)); };
  const auto is = [&](int opcode, const char* name, DmaSide source, DmaSide target) {
    return row(opcode) != nullptr && row(opcode)->name == name && row(opcode)->source == source &&
           row(opcode)->target == target;
  };
  EXPECT_TRUE(is(1, "H2D", DmaSide::kHost, DmaSide::kDevice));
  EXPECT_TRUE(is(2, "D2H", DmaSide::kDevice, DmaSide::kHost));
  EXPECT_TRUE(is(3, "D2D", DmaSide::kDevice, DmaSide::kDevice));
  EXPECT_TRUE(is(4, "P2P", DmaSide::kDevice, DmaSide::kDevice));
  EXPECT_TRUE(is(5, "fill", DmaSide::kPattern, DmaSide::kDevice));
  EXPECT_TRUE(is(6, "prefetch", DmaSide::kDevice, DmaSide::kCache));
  for (int opcode = 0; opcode < 256; ++opcode) {
    const bool known = opcode >= 1 && opcode <= 6;
    EXPECT_EQ(row(opcode) != nullptr, known) << opcode;
    EXPECT_EQ(find_ring_operation(static_cast<std::uint8_t>(opcode)) != nullptr,
              known && opcode < 5)
        << opcode;
    EXPECT_EQ(row(opcode) != nullptr && row(opcode)->peer, opcode == 4) << opcode;
  }
}

// M3: dword 0 opcode and stream, 1-2 source, 3-4 destination, 5 event, 6-7 size; little endian.
TEST(GoldenRing, EntryBytes) {
  DmaEntry entry;
  entry.opcode = 0x03;
  entry.flags = 0x01;
  entry.stream = 0x1234;
  entry.set_source(0x1122334455667788);
  entry.set_destination(0x99AABBCCDDEEFF01);
  entry.event = 0x00000102;
  entry.set_size(0x0000000340000000);
  const std::array<std::uint8_t, 32> expected = {
      0x03, 0x01, 0x34, 0x12,  // dword 0
      0x88, 0x77, 0x66, 0x55,  // dword 1: source low
      0x44, 0x33, 0x22, 0x11,  // dword 2: source high
      0x01, 0xFF, 0xEE, 0xDD,  // dword 3: destination low
      0xCC, 0xBB, 0xAA, 0x99,  // dword 4: destination high
      0x02, 0x01, 0x00, 0x00,  // dword 5: event
      0x00, 0x00, 0x00, 0x40,  // dword 6: size low
      0x03, 0x00, 0x00, 0x00,  // dword 7: size high
  };
  std::array<std::uint8_t, 32> bytes{};
  std::memcpy(bytes.data(), &entry, sizeof entry);
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(entry.source(), 0x1122334455667788U);
  EXPECT_EQ(entry.destination(), 0x99AABBCCDDEEFF01U);
  EXPECT_EQ(entry.size(), 0x340000000U);
}

// The layout of the source documents loses bits of size and stream; ours loses none.
TEST(GoldenRing, SizeAndStreamKeepAllTheirBits) {
  DmaEntry entry;
  entry.stream = 0xFFFF;
  entry.set_size(UINT64_MAX);
  EXPECT_EQ(entry.stream, 0xFFFF);
  EXPECT_EQ(entry.size(), UINT64_MAX);
}

TEST(GoldenRing, UsedEntriesWrap) {
  EXPECT_EQ(ring_used(0, 0), 0U);
  EXPECT_EQ(ring_used(5, 3), 2U);
  EXPECT_EQ(ring_used(1, 4095), 2U);
  EXPECT_EQ(ring_used(4095, 0), 4095U);
}

TEST(GoldenEvent, RecordBits) {
  EventRecord record{0x0011'0000'0007};
  EXPECT_EQ(record.count(), 7U);
  EXPECT_EQ(record.fault(), FaultCode::kHostAddress);
  record.complete(FaultCode::kInvalidSize);  // the first fault stays
  EXPECT_EQ(record.raw, 0x0011'0000'0008U);
}

TEST(GoldenEvent, CountWrapsWithoutTouchingTheFault) {
  EventRecord record{0xFFFFFFFF};
  record.complete(FaultCode::kNone);
  EXPECT_EQ(record.raw, 0U);
  record.complete(FaultCode::kPoisoned);
  EXPECT_EQ(record.raw, 0x0015'0000'0001U);
}

TEST(GoldenEvent, TargetsAreReachedAcrossTheWrap) {
  EXPECT_TRUE(event_reached(5, 5));
  EXPECT_TRUE(event_reached(6, 5));
  EXPECT_FALSE(event_reached(4, 5));
  EXPECT_TRUE(event_reached(1, 0xFFFFFFFF));
  EXPECT_FALSE(event_reached(0xFFFFFFFF, 1));
}

TEST(GoldenFault, Codes) {
  const std::pair<FaultCode, int> golden[] = {
      {FaultCode::kNone, 0x00},
      {FaultCode::kInvalidOpcode, 0x01},
      {FaultCode::kInvalidStream, 0x02},
      {FaultCode::kInvalidSize, 0x03},
      {FaultCode::kInvalidEvent, 0x04},
      {FaultCode::kDeviceAddress, 0x10},
      {FaultCode::kHostAddress, 0x11},
      {FaultCode::kHostPermission, 0x12},
      {FaultCode::kCompletionTimeout, 0x13},
      {FaultCode::kBusMasterDisabled, 0x14},
      {FaultCode::kPoisoned, 0x15},
      {FaultCode::kNoPeer, 0x16},
      {FaultCode::kTranslation, 0x17},
      {FaultCode::kDevicePermission, 0x18},
      {FaultCode::kPageTable, 0x19},
      {FaultCode::kPeerLinkDown, 0x1A},
      {FaultCode::kPeerRefused, 0x1B},
      {FaultCode::kDoorbellRange, 0x20},
      {FaultCode::kRingFetch, 0x21},
      {FaultCode::kHostWriteLost, 0x22},
  };
  for (const auto& [code, value] : golden) {
    EXPECT_EQ(static_cast<int>(code), value);
    EXPECT_NE(to_string(code), "unknown fault");
  }
}

TEST(GoldenPageTable, AddressBits) {
  EXPECT_EQ(entry_span(0), 0x20'0000U);       // 2 MiB
  EXPECT_EQ(entry_span(1), 0x4000'0000U);     // 1 GiB
  EXPECT_EQ(entry_span(2), 0x80'0000'0000U);  // 512 GiB
  const std::uint64_t address = 0x0000'8081'8123'4567;
  EXPECT_EQ(table_index(address, 2), 0x101U);  // bits 47..39
  EXPECT_EQ(table_index(address, 1), 0x006U);  // bits 38..30
  EXPECT_EQ(table_index(address, 0), 0x009U);  // bits 29..21
}

TEST(GoldenPageTable, Entries) {
  EXPECT_EQ(PageTableEntry::table(0x1234'5000).raw, 0x1234'5001U);
  EXPECT_EQ(PageTableEntry::page(0x1220'0000, true, false).raw, 0x1220'0007U);
  EXPECT_EQ(PageTableEntry::page(0x1220'0000, true, true).raw, 0x1220'000FU);
  EXPECT_EQ(PageTableEntry::page(0x1220'0000, false, false).raw, 0x1220'0003U);
  EXPECT_EQ(ContextEntry::root(0xFFFF'FFFF'F000).raw, 0xFFFF'FFFF'F001U);
  EXPECT_EQ(PageTableEntry{0xFFFF'0000'0000'0000}.address(), 0U);  // software's own bits
  // Peer is bit 57, Card bits 56..48, the address is the other card's.
  const auto peer = PageTableEntry::page(PageTableEntry::peer_target(5, 0x1220'0000), true, true);
  EXPECT_EQ(peer.raw, 0x0205'0000'1220'000FU);
  EXPECT_TRUE(peer.is_peer());
  EXPECT_EQ(peer.card(), 5U);
  EXPECT_EQ(peer.address(), 0x1220'0000U);
  EXPECT_EQ(peer.target(), 0x0205'0000'1220'0000U);
  EXPECT_EQ(PageTableEntry{0x0005'0000'1220'000F}.target(), 0x1220'0000U);
  const auto last = PageTableEntry::page(PageTableEntry::peer_target(383, 0x20'0000), true, false);
  EXPECT_EQ(last.raw, 0x037F'0000'0020'0007U);
  EXPECT_EQ(last.card(), 383U);
  EXPECT_FALSE(last.young() || last.dirty() || last.partial());
  // Host is bit 61, the address is the bus'.
  const auto host = PageTableEntry::page(PageTableEntry::host_target(0x7F'FFE0'0000), true, true);
  EXPECT_EQ(host.raw, 0x2000'007F'FFE0'000FU);
  EXPECT_TRUE(host.is_host());
  EXPECT_FALSE(host.is_local() || host.is_peer());
  EXPECT_EQ(host.target(), 0x2000'007F'FFE0'0000U);
  EXPECT_FALSE(PageTableEntry{last.raw | host.raw}.is_host());
  EXPECT_EQ(kVmids, 19U);
  EXPECT_EQ(kTableSize, 4096U);
}

// Bit n of word i is card 32 i + n; words are 8 bytes apart.
TEST(GoldenLayout, WordsOfCards) {
  EXPECT_EQ(kMaxHccsCards, 384U);
  EXPECT_EQ(HccsWord::kWords, 12U);
  const std::array<std::array<std::uint64_t, 3>, 8> cards{{{0, 0, 1},
                                                           {31, 0, 0x8000'0000},
                                                           {32, 8, 1},
                                                           {63, 8, 0x8000'0000},
                                                           {64, 16, 1},
                                                           {127, 24, 0x8000'0000},
                                                           {128, 32, 1},
                                                           {383, 88, 0x8000'0000}}};
  for (const auto& [card, offset, bit] : cards) {
    EXPECT_EQ(HccsWord::offset_of(static_cast<unsigned>(card)), offset) << card;
    EXPECT_EQ(HccsWord::bit_of(static_cast<unsigned>(card)), bit) << card;
  }
}

// PCI Express Base Specification, chapter 7; pcie.md P2 to P5.
TEST(GoldenPci, HeaderAndCapabilities) {
  EXPECT_EQ(pci::kBar0, 0x10U);
  EXPECT_EQ(pci::kHeaderType, 0x0EU);
  EXPECT_EQ(pci::kSubsystemVendor, 0x2CU);
  EXPECT_EQ(pci::kCapabilityPointer, 0x34U);
  EXPECT_EQ(pci::kSecondaryBus, 0x19U);
  EXPECT_EQ(pci::kSubordinateBus, 0x1AU);
  EXPECT_EQ(pci::kCapPowerManagement, 0x01);
  EXPECT_EQ(pci::kCapPciExpress, 0x10);
  EXPECT_EQ(pci::kCapMsix, 0x11);  // M5
  EXPECT_EQ(pci::kExtAer, 0x0001);
  EXPECT_EQ(pci::kExtAri, 0x000E);
  EXPECT_EQ(pci::kExtSriov, 0x0010);
  EXPECT_EQ(pci::kMsixControlEnable, 1 << 15);
  EXPECT_EQ(pci::kMsixControlMaskAll, 1 << 14);
  EXPECT_EQ(pci::kExpDeviceCapFlr, 0x10000000U);
}

}  // namespace
}  // namespace npu::abi
