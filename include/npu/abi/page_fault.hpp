// SPDX-License-Identifier: Apache-2.0
// Page faults that are served. An access to a page that is not mapped, or not for this kind of
// access, fails at once, unless PAGE_FAULT_SPACES names its address space: then it waits in the
// MMU, a record of it goes into a ring in host memory with an interrupt, or to the function's
// control processor (control.hpp), and when whoever serves it has mapped the page and has replied
// (PAGE_FAULT_REPLY, or in the control processor's window), it is walked for again. The ring is
// npusim's own; records that the function must not write to the host are written when it may. What
// it carries is what replayable fault buffers of GPUs carry
// (virtualisation.md S6).
#pragma once

#include <cstdint>

#include "npu/abi/register.hpp"

namespace npu::abi {

// Bit v: faults of VMID v wait to be served. Clearing a bit ends what waits there as if nobody had
// ever served it.
struct PageFaultSpaces : Register<PageFaultSpaces, std::uint32_t, 0x0380, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_FAULT_SPACES";
  NPU_FIELD(Vmids, 18, 0, "bit v: faults of VMID v wait to be served");
};
// Writing Enable = 1 latches PAGE_FAULT_BASE and the size and zeroes both indices.
struct PageFaultControl : Register<PageFaultControl, std::uint32_t, 0x0384, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_FAULT_CONTROL";
  NPU_FIELD(Enable, 0, 0, "records are written");
  NPU_FIELD(ToControl, 1, 1, "the control processor is told (control_window.hpp), no ring");
  NPU_FIELD(Log2Records, 7, 4, "log2 of the records of the ring, 7 (4 KiB) .. 12");
  NPU_FIELD(Vector, 31, 16, "MSI-X of the records");
};
struct PageFaultBase : Register<PageFaultBase, std::uint64_t, 0x0388, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_FAULT_BASE";
  NPU_VALUE("bus address", "record 0, 4 KiB aligned");
};
struct PageFaultProducer : Register<PageFaultProducer, std::uint32_t, 0x0390, Access::kReadOnly> {
  static constexpr std::string_view kName = "PAGE_FAULT_PRODUCER";
  NPU_VALUE("records", "written since Enable, modulo 2^32");
};
// Records that the host has taken out since Enable, modulo 2^32. With a full ring faults wait for
// their records. An interrupt follows a record that comes when all before it have been taken out,
// and a write of this register that leaves records in the ring.
struct PageFaultConsumer : Register<PageFaultConsumer, std::uint32_t, 0x0394, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_FAULT_CONSUMER";
  NPU_VALUE("records", "that the host has taken out since Enable, modulo 2^32");
};
struct PageFaultAddress : Register<PageFaultAddress, std::uint64_t, 0x0398, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_FAULT_ADDRESS";
  NPU_VALUE("device virtual address", "page that PAGE_FAULT_REPLY is about");
};
// Writing it replies to what waits for the page, or in the whole space. Reads as 0.
struct PageFaultReply : Register<PageFaultReply, std::uint32_t, 0x03A0, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_FAULT_REPLY";
  NPU_FIELD(Vmid, 7, 0, "address space");
  NPU_FIELD(WholeSpace, 8, 8, "all that waits in it, not only for the page");
  NPU_FIELD(Abort, 9, 9, "fail with the fault that it would have been; else walk again");
  NPU_FIELD(Start, 31, 31, "reply");
};

// Device-local address of the residency maps (page_table.hpp), 64 byte aligned. Without Enable
// there are none, and Partial is ignored.
struct PageResidencyBase : Register<PageResidencyBase, std::uint64_t, 0x03A8, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_RESIDENCY_BASE";
  NPU_FIELD(Enable, 0, 0, "there are residency maps");
  NPU_FIELD(Address, 47, 6, "bits 47..6 of their device-local address");
};

// Who is to serve the faults unless the host's software has a reason of its own: a setting of the
// card. It serves them as PAGE_FAULT_CONTROL says, whatever this is.
struct PageFaultMode : Register<PageFaultMode, std::uint32_t, 0x03B0, Access::kReadOnly> {
  static constexpr std::string_view kName = "PAGE_FAULT_MODE";
  NPU_FIELD(ByHost, 0, 0, "the host serves, from the ring; else the control processor's program");
  NPU_FIELD(HostPages, 1, 1, "nobody serves: the card uses the host's pages (SHARED_SPACE)");
};

// Faults that wait. Writing it: those of which the host was told are told of again, behind the
// records that there are, because a record was lost (the function must not write to the host) or a
// reply was; and WritesLost is 0.
struct PageFaultWaiting : Register<PageFaultWaiting, std::uint32_t, 0x03B8, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_FAULT_WAITING";
  NPU_READ_ONLY_FIELD(Count, 15, 0, "faults that wait, at most 65535");
  // The function has lost writes of the host, while it decoded no memory: page table entries and
  // residency maps among them, perhaps. PAGE_FAULT_REPLY is ignored meanwhile.
  NPU_READ_ONLY_FIELD(WritesLost, 31, 31,
                      "writes of the host were lost; PAGE_FAULT_REPLY is ignored meanwhile");
};

// Addresses of a process of the host. Writing it with Enable = 1: what the page tables of VMID
// `Vmid` do not map are from now on addresses of the process with that PASID, which the card has
// translated (PCIe ATS) and, if there is nothing, asks for (PRI). With Enable = 0: no longer; what
// waits fails. Only where PAGE_FAULT_MODE has HostPages. Reads as 0.
struct SharedSpace : Register<SharedSpace, std::uint32_t, 0x03B4, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARED_SPACE";
  NPU_FIELD(Pasid, 19, 0, "process of the host, not 0");
  NPU_FIELD(Vmid, 24, 20, "address space of the card, not 0");
  NPU_FIELD(Enable, 31, 31, "begin; 0: end");
};

// A record of the ring; little endian.
struct PageFaultRecord {
  // 0   first byte of the access, device virtual; of a page with parts, the first that is not there
  std::uint64_t address = 0;
  std::uint64_t time_ns = 0;   // 8   DEVICE_TIME
  std::uint32_t number = 0;    // 16  1, 2, ... since Enable; tells that the record is there
  std::uint16_t core = 0;      // 20  AI Core or AICPU + 1; 0: another unit of the card
  std::uint8_t vmid = 0;       // 22
  std::uint8_t write = 0;      // 23  1: a write
  std::uint8_t forbidden = 0;  // 24  1: mapped, but not for this kind of access
  std::uint8_t unit = 0;       // 25  PageFaultUnit
  std::uint16_t reserved = 0;
  std::uint32_t reserved2 = 0;
};
static_assert(sizeof(PageFaultRecord) == 32);

enum class PageFaultUnit : std::uint8_t {
  kDma = 0,
  kCommand = 1,
  kAiCore = 2,
  kAicpu = 3,
  kWritesLost = 4,  // no fault: PAGE_FAULT_WAITING.WritesLost has become 1
};

}  // namespace npu::abi
