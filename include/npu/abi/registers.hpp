// SPDX-License-Identifier: Apache-2.0
// The registers of BAR0. Offsets are from the start of the BAR; all little endian.
// A read of an offset that no register covers returns 0; a write to it is ignored. Accesses are
// 4 or 8 bytes and naturally aligned; a 64-bit register may be accessed as two halves.
#pragma once

#include "npu/abi/control.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_copy.hpp"
#include "npu/abi/page_fault.hpp"
#include "npu/abi/partition_registers.hpp"
#include "npu/abi/queue_registers.hpp"
#include "npu/abi/register.hpp"
#include "npu/abi/telemetry.hpp"

namespace npu::abi {

using std::uint32_t;
using std::uint64_t;

// --- Global page, 0x0000 -------------------------------------------------------------------

struct ChipId : Register<ChipId, uint32_t, 0x0000, Access::kReadOnly> {
  static constexpr std::string_view kName = "CHIP_ID";
  NPU_FIELD(Vendor, 15, 0, "vendor, 0x19E5");
  NPU_FIELD(Device, 31, 16, "device, as in configuration space");
};
struct ChipRevision : Register<ChipRevision, uint32_t, 0x0004, Access::kReadOnly> {
  static constexpr std::string_view kName = "CHIP_REVISION";
  NPU_FIELD(AbiVersion, 15, 0, "version of these registers (kAbiVersion)");
  NPU_FIELD(Silicon, 23, 16, "revision of the chip");
};
struct AiCoreCount : Register<AiCoreCount, uint32_t, 0x0008, Access::kReadOnly> {
  static constexpr std::string_view kName = "AI_CORE_COUNT";
  NPU_VALUE("cores", "AI Cores of the function, in clusters");
};
struct DeviceIndex : Register<DeviceIndex, uint32_t, 0x000C, Access::kReadOnly> {
  static constexpr std::string_view kName = "DEVICE_INDEX";
  NPU_VALUE("index", "number of the card in its system");
};
struct HbmSize : Register<HbmSize, uint64_t, 0x0010, Access::kReadOnly> {
  static constexpr std::string_view kName = "HBM_SIZE";
  NPU_VALUE("bytes", "device memory that the host may allocate");
};
struct StreamWindowBase : Register<StreamWindowBase, uint64_t, 0x0018, Access::kReadOnly> {
  static constexpr std::string_view kName = "STREAM_WINDOW_BASE";
  NPU_VALUE("offset in BAR2", "stream window 0");
};
struct StreamCount : Register<StreamCount, uint32_t, 0x0020, Access::kReadOnly> {
  static constexpr std::string_view kName = "STREAM_COUNT";
  NPU_VALUE("streams", "streams that there are");
};
struct EventCount : Register<EventCount, uint32_t, 0x0024, Access::kReadOnly> {
  static constexpr std::string_view kName = "EVENT_COUNT";
  NPU_VALUE("events", "events that there are");
};
struct DeviceStatus : Register<DeviceStatus, uint32_t, 0x0028, Access::kReadOnly> {
  static constexpr std::string_view kName = "DEVICE_STATUS";
  NPU_FIELD(Ready, 0, 0, "registers may be used");
  NPU_FIELD(FaultPending, 1, 1, "FAULT_STATUS.Valid is set");
  NPU_FIELD(PagesIsolated, 2, 2, "kIsolatedPagesWindow lists pages");
};
struct DeviceTime : Register<DeviceTime, uint64_t, 0x0030, Access::kReadOnly> {
  static constexpr std::string_view kName = "DEVICE_TIME";
  NPU_VALUE("ns", "time since reset as the card counts it");
};
// The first fault since Valid was last cleared; later ones only set Overflow.
struct FaultStatus : Register<FaultStatus, uint32_t, 0x0100, Access::kWriteOneToClear> {
  static constexpr std::string_view kName = "FAULT_STATUS";
  NPU_FIELD(Valid, 0, 0, "the FAULT registers have a fault");
  NPU_FIELD(Overflow, 1, 1, "later faults were dropped");
};
struct FaultCodeRegister : Register<FaultCodeRegister, uint32_t, 0x0104, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_CODE";
  NPU_FIELD(Code, 15, 0, "FaultCode");
  NPU_FIELD(Opcode, 23, 16, "of the command at fault, 0 if none");
  NPU_FIELD(Engine, 31, 24, "DMA engine, 0xFF if none");
};
struct FaultAddress : Register<FaultAddress, uint64_t, 0x0108, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_ADDRESS";
  NPU_VALUE("address", "address of the access at fault");
};
struct FaultInfo : Register<FaultInfo, uint32_t, 0x0110, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_INFO";
  NPU_FIELD(Stream, 15, 0, "of the command at fault");
  NPU_FIELD(RingIndex, 31, 16, "of the command at fault");
};
// How the access at fault was made.
struct FaultAccess : Register<FaultAccess, uint32_t, 0x0114, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_ACCESS";
  NPU_FIELD(Vmid, 7, 0, "address space of the access at fault");
  NPU_FIELD(Write, 8, 8, "it was a write");
};

// --- Memory management, 0x0200 (page_table.hpp) ---------------------------------------------

struct MmuContextBase : Register<MmuContextBase, uint64_t, 0x0200, Access::kReadWrite> {
  static constexpr std::string_view kName = "MMU_CONTEXT_BASE";
  NPU_VALUE("device-local address",
            "the context table, 4 KiB aligned; writing it empties TLB and walk caches");
};
struct MmuInvalidateAddress : Register<MmuInvalidateAddress, uint64_t, 0x0208, Access::kReadWrite> {
  static constexpr std::string_view kName = "MMU_INVALIDATE_ADDRESS";
  NPU_VALUE("device virtual address", "first page to invalidate (Scope kRange)");
};
struct MmuInvalidateSize : Register<MmuInvalidateSize, uint64_t, 0x0210, Access::kReadWrite> {
  static constexpr std::string_view kName = "MMU_INVALIDATE_SIZE";
  NPU_VALUE("bytes", "size of what to invalidate (Scope kRange)");
};
// Writing it with Start = 1 drops cached translations and entries. Start reads as 1 until that is
// done and every access translated before has ended. A write while it is 1 is ignored.
struct MmuInvalidate : Register<MmuInvalidate, uint32_t, 0x0218, Access::kReadWrite> {
  static constexpr std::string_view kName = "MMU_INVALIDATE";
  NPU_FIELD(Vmid, 7, 0, "address space, of Scope kVmid and kRange");
  NPU_FIELD(Scope, 9, 8, "0 kAll, 1 kVmid, 2 kRange");
  NPU_FIELD(Start, 31, 31, "begin; reads as 1 until it is done");
  static constexpr uint32_t kAll = 0;
  static constexpr uint32_t kVmid = 1;
  static constexpr uint32_t kRange = 2;
};

// The same for one page of 2 MiB, for who serves page faults: beside MMU_INVALIDATE, which others
// use.
struct PageInvalidateAddress
    : Register<PageInvalidateAddress, uint64_t, 0x0220, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_INVALIDATE_ADDRESS";
  NPU_VALUE("device virtual address", "page of 2 MiB that PAGE_INVALIDATE is about");
};
struct PageInvalidate : Register<PageInvalidate, uint32_t, 0x0228, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_INVALIDATE";
  NPU_FIELD(Vmid, 7, 0, "address space");
  NPU_FIELD(Number, 15, 8, "of the last one that was begun, as the host numbers them");
  // The function has lost writes of the host since the Start before this one, while it decoded no
  // memory: what was to be invalidated may not have been written.
  NPU_READ_ONLY_FIELD(WritesLost, 30, 30, "writes of the host before the last Start were lost");
  NPU_FIELD(Start, 31, 31, "begin; reads as 1 until it is done");
};

// --- HCCS links to other cards, 0x0140 and 0x0280 ------------------------------------------

inline constexpr unsigned kMaxHccsCards = 384;

// HCCS_LINKS and HCCS_ACCESS are words: bit n of word i is about the card of DEVICE_INDEX 32 i + n.
// A word has only 32 cards: it never reads as all ones, as a card does that is gone.
struct HccsWord {
  static constexpr unsigned kCards = 32, kWords = kMaxHccsCards / kCards;
  // Of the word with `card`: its distance from word 0.
  static constexpr uint32_t offset_of(unsigned card) { return 8 * (card / kCards); }
  static constexpr uint64_t bit_of(unsigned card) { return uint64_t{1} << card % kCards; }
};
// Word 0 of each; the others are alike.
struct HccsLinks : Register<HccsLinks, uint64_t, 0x0280, Access::kReadOnly> {
  static constexpr std::string_view kName = "HCCS_LINKS";
  NPU_FIELD(Up, 31, 0, "bit n: there is a way to card 32 i + n over links that are up");
  NPU_FIELD(Cards, 47, 32, "cards of the fabric; 0: it is in none");
};
struct HccsAccess : Register<HccsAccess, uint64_t, 0x0140, Access::kReadWrite> {
  static constexpr std::string_view kName = "HCCS_ACCESS";
  NPU_FIELD(Open, 31, 0, "bit n: card 32 i + n may read and write HBM_SIZE bytes here");
};
template <class Word0, unsigned I>
constexpr auto name_of_word() {
  std::array<char, Word0::kName.size() + (I < 10 ? 2 : 3)> name{};
  for (std::size_t i = 0; i < Word0::kName.size(); ++i) name[i] = Word0::kName[i];
  name[Word0::kName.size()] = '_';
  if constexpr (I >= 10) name[name.size() - 2] = '0' + I / 10;
  name[name.size() - 1] = '0' + I % 10;
  return name;
}
template <class Word0, unsigned I>
struct HccsWordAt : Word0 {
  static_assert(0 < I && I < HccsWord::kWords);
  static constexpr uint32_t kOffset = Word0::kOffset + 8 * I;
  static constexpr auto kText = name_of_word<Word0, I>();
  static constexpr std::string_view kName{kText.data(), kText.size()};
  template <unsigned Low>
  static constexpr auto field_row(FieldAt<Low> at) -> decltype(Word0::field_row(at)) {
    auto row = Word0::field_row(at);
    row.of = kName;
    return row;
  }
};
template <unsigned I>
using HccsLinksWord = HccsWordAt<HccsLinks, I>;
template <unsigned I>
using HccsAccessWord = HccsWordAt<HccsAccess, I>;

struct HccsCounted : Register<HccsCounted, uint32_t, 0x02E0, Access::kReadWrite> {
  static constexpr std::string_view kName = "HCCS_COUNTED";
  NPU_VALUE("card", "the card that word 0 of HCCS_SENT and HCCS_RECEIVED is about");
};

// Command processor, 0x0300: queue_registers.hpp. Page faults, 0x0380: page_fault.hpp.
// Control processor, 0x03C0: control.hpp. Partitions of virtual functions, 0x0410:
// partition_registers.hpp. Page copies, 0x1028: page_copy.hpp. Telemetry, 0x0480 .. 0x0FFF, 0x1100
// .. 0x17FF: telemetry.hpp.

// --- DMA submission queue, 0x1000 ----------------------------------------------------------

struct DmaQueueBase : Register<DmaQueueBase, uint64_t, 0x1000, Access::kReadWrite> {
  static constexpr std::string_view kName = "DMA_QUEUE_BASE";
  NPU_VALUE("address", "ring entry 0, 4 KiB aligned; device-local, or on the bus (HostMemory)");
};
// Entries below this index are consumed: the card has its own copy and the slot may be reused.
struct DmaConsumerIndex : Register<DmaConsumerIndex, uint32_t, 0x1008, Access::kReadOnly> {
  static constexpr std::string_view kName = "DMA_CONSUMER_INDEX";
  NPU_FIELD(Index, 15, 0, "entries below it are consumed: their slots may be reused");
};
// Producer index: the slot after the last valid entry. Writing it is the doorbell.
struct DmaDoorbell : Register<DmaDoorbell, uint32_t, 0x1010, Access::kReadWrite> {
  static constexpr std::string_view kName = "DMA_DOORBELL";
  NPU_FIELD(ProducerIndex, 15, 0, "slot after the last valid entry, 0 .. kRingEntries - 1");
};
// Writing Enable = 1 latches base and memory, zeroes both indices and clears Halted.
struct DmaQueueControl : Register<DmaQueueControl, uint32_t, 0x1018, Access::kReadWrite> {
  static constexpr std::string_view kName = "DMA_QUEUE_CONTROL";
  NPU_FIELD(Enable, 0, 0, "the queue takes commands");
  NPU_FIELD(HostMemory, 1, 1, "DMA_QUEUE_BASE is a bus address");
};
struct DmaQueueStatus : Register<DmaQueueStatus, uint32_t, 0x101C, Access::kReadOnly> {
  static constexpr std::string_view kName = "DMA_QUEUE_STATUS";
  NPU_FIELD(Enabled, 0, 0, "the queue takes commands");
  NPU_FIELD(Idle, 1, 1, "nothing fetched is still being executed");
  NPU_FIELD(Halted, 2, 2, "a queue fault (bad doorbell, unreadable ring) stopped it");
};
// Bus address of the event records in host memory (event.hpp), 4 KiB aligned; 0: none are
// written and the host must read the EVENT registers.
struct EventRecordBase : Register<EventRecordBase, uint64_t, 0x1020, Access::kReadWrite> {
  static constexpr std::string_view kName = "EVENT_RECORD_BASE";
  NPU_VALUE("bus address", "event records in host memory, 4 KiB aligned; 0: none are written");
};

using Bar0Registers = RegisterList<
    ChipId, ChipRevision, AiCoreCount, DeviceIndex, HbmSize, StreamWindowBase, StreamCount,
    EventCount, DeviceStatus, DeviceTime, FaultStatus, FaultCodeRegister, FaultAddress, FaultInfo,
    FaultAccess, HccsAccess, HccsAccessWord<1>, HccsAccessWord<2>, HccsAccessWord<3>,
    HccsAccessWord<4>, HccsAccessWord<5>, HccsAccessWord<6>, HccsAccessWord<7>, HccsAccessWord<8>,
    HccsAccessWord<9>, HccsAccessWord<10>, HccsAccessWord<11>, MmuContextBase, MmuInvalidateAddress,
    MmuInvalidateSize, MmuInvalidate, PageInvalidateAddress, PageInvalidate, HccsLinks,
    HccsLinksWord<1>, HccsLinksWord<2>, HccsLinksWord<3>, HccsLinksWord<4>, HccsLinksWord<5>,
    HccsLinksWord<6>, HccsLinksWord<7>, HccsLinksWord<8>, HccsLinksWord<9>, HccsLinksWord<10>,
    HccsLinksWord<11>, HccsCounted, QueueCapability, QueueCores, DoorbellBase, ManagementBase,
    ManagementControl, ManagementStatusRegister, ManagementDoorbell, ManagementConsumer,
    QueueFaultBase, QueueFaultControl, QueueFaultCount, CoreTopology, PageFaultSpaces,
    PageFaultControl, PageFaultBase, PageFaultProducer, PageFaultConsumer, PageFaultAddress,
    PageFaultReply, PageResidencyBase, PageFaultMode, SharedSpace, PageFaultWaiting, ControlImage,
    ControlArguments, ControlState, MessageControl, MessageBase, MessageProducer, MessageConsumer,
    MessageTaken, MessageReceived, MessageWord1, MessageWord2, MessageWord3, MessageSend,
    PartitionCapability, PartitionStatusRegister, PartitionCommand, PartitionCores, PartitionAicpus,
    PartitionMemoryBase, PartitionMemorySize, PartitionMedia, PartitionGroup, PartitionWeights,
    PartitionTokens, PartitionTaskTimeout, ShareName0, ShareName1, TelemetryCapability, CoreClock,
    AicpuClock, HbmClock, HbmPeakRate, HbmBytesRead, HbmBytesWritten, CubeBusy, VectorBusy,
    LinkRate, LinkRxPosted, LinkRxNonPosted, LinkRxCompletion, LinkTxPosted, LinkTxNonPosted,
    LinkTxCompletion, EccInjectAddress, EccInject, EccSingle, EccDouble, EccRecordedSingle,
    EccRecordedDouble, EccIsolatedSingle, EccIsolatedDouble, EccClear, HealthStatus, EventLogCount,
    DmaQueueBase, DmaConsumerIndex, DmaDoorbell, DmaQueueControl, DmaQueueStatus, EventRecordBase,
    PageCopyControl, PageCopyBase, PageCopySource, PageCopyDestination, PageCopySize, PageCopyStart,
    PageCopyProgress>;

inline constexpr auto kBar0Table = make_table(Bar0Registers{});
static_assert(is_sorted_without_overlap(kBar0Table));

inline constexpr uint32_t kAbiVersion = 1;

constexpr uint32_t event_register_offset(uint32_t event_id) {
  return kEventBlock + kEventStride * event_id;
}

}  // namespace npu::abi
