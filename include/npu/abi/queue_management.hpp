// SPDX-License-Identifier: Apache-2.0
// The management queue: how the driver tells the command processor which processes and queues there
// are; and the log of queue faults. Both are the driver's alone: they lie in memory that no
// process reaches, in a ring whose doorbell is in BAR0.
//
// Commands are executed one after another, in ring order. Each writes a ManagementResponse if
// `fence_address` is not 0, and raises `vector` if kManagementInterrupt is set, when it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::abi {

inline constexpr std::uint32_t kManagementEntrySize = 64;

enum class ManagementOpcode : std::uint8_t {
  kMapProcess = 0x01,    // pasid, vmid, page, address: page-table base
  kUnmapProcess = 0x02,  // pasid; it has no queues any more
  kAddQueue = 0x03,      // queue, address: the descriptor
  kRemoveQueue = 0x04,   // queue, mode
  kUpdateQueue = 0x05,   // queue: drained, and its descriptor read again when it is next loaded
  kSuspend = 0x06,       // scope, queue or pasid, mode
  kResume = 0x07,        // scope, queue or pasid
  kQueryQueue = 0x08,    // queue: the card's half of the descriptor is written
  kFence = 0x09,         // nothing but the response
  kScrub = 0x0A,         // address, size: all of it is read, so that ECC meets its errors
};

constexpr std::string_view to_string(ManagementOpcode opcode) {
  switch (opcode) {
    case ManagementOpcode::kMapProcess:
      return "map process";
    case ManagementOpcode::kUnmapProcess:
      return "unmap process";
    case ManagementOpcode::kAddQueue:
      return "add queue";
    case ManagementOpcode::kRemoveQueue:
      return "remove queue";
    case ManagementOpcode::kUpdateQueue:
      return "update queue";
    case ManagementOpcode::kSuspend:
      return "suspend";
    case ManagementOpcode::kResume:
      return "resume";
    case ManagementOpcode::kQueryQueue:
      return "query queue";
    case ManagementOpcode::kFence:
      return "fence";
    case ManagementOpcode::kScrub:
      return "scrub";
  }
  return "?";
}

enum class PreemptMode : std::uint8_t {
  kDrain = 0,  // what runs is completed (a kernel: up to a block border if it can be saved)
  kReset = 1,  // what runs is given up at the next border of an access and never completes
};
enum class ManagementScope : std::uint8_t { kQueue = 0, kProcess = 1, kAll = 2 };

inline constexpr std::uint16_t kManagementInterrupt = 0x0001;

struct ManagementCommand {
  std::uint8_t opcode = 0;          // 0   ManagementOpcode
  std::uint8_t format = 1;          // 1
  std::uint16_t flags = 0;          // 2
  std::uint32_t queue = 0;          // 4   queue id
  std::uint32_t pasid = 0;          // 8   1 .. 2^20 - 1
  std::uint8_t vmid = 0;            // 12  1 .. kVmids - 1
  std::uint8_t mode = 0;            // 13  PreemptMode
  std::uint8_t scope = 0;           // 14  ManagementScope
  std::uint8_t reserved0 = 0;       // 15
  std::uint32_t page = 0;           // 16  doorbell page
  std::uint32_t vector = 0;         // 20  MSI-X; MAP_PROCESS: also of its doorbell faults
  std::uint64_t address = 0;        // 24  MAP_PROCESS: level 2 table, which the card enters into
                                    //     the context table; 0: the driver has done so.
                                    //     SCRUB: device-local, 4 KiB aligned
  std::uint64_t fence_address = 0;  // 32  bus address, 16 B aligned
  std::uint64_t fence_value = 0;    // 40
  std::uint64_t size = 0;           // 48  SCRUB: bytes, a multiple of 4 KiB
  std::uint64_t reserved1 = 0;      // 56
};
static_assert(sizeof(ManagementCommand) == kManagementEntrySize);
static_assert(offsetof(ManagementCommand, pasid) == 8 && offsetof(ManagementCommand, page) == 16 &&
              offsetof(ManagementCommand, address) == 24 &&
              offsetof(ManagementCommand, fence_value) == 40 &&
              offsetof(ManagementCommand, size) == 48);

enum class ManagementStatus : std::uint32_t {
  kSuccess = 0,
  kInvalidCommand = 1,  // opcode, format, scope or mode; SCRUB: beyond the memory, or not aligned
  kInvalidProcess = 2,  // pasid or vmid out of range, unknown, or in use already
  kInvalidPage = 3,     // doorbell page beyond the aperture, or in use
  kInvalidQueue = 4,    // queue id out of range, unknown, or in use already
  kInvalidDescriptor = 5,  // unreadable, or a field out of range
  kDoorbellInUse = 6,
  kProcessBusy = 7,  // UNMAP_PROCESS: it has queues
  kNotDrained = 8,   // what runs has not ended in the time the card waits for it. Nothing more of
                     // it is started; the command may be repeated, or given with kReset
};

// Written whole, into host memory.
struct ManagementResponse {
  std::uint64_t fence_value = 0;
  std::uint32_t status = 0;  // ManagementStatus
  std::uint32_t detail = 0;  // QueueState, of commands on one queue
};
static_assert(sizeof(ManagementResponse) == 16);

// One record of the fault log (QUEUE_FAULT_BASE), in host memory. Number n, from 1 on, lies at
// place (n - 1) modulo the log's size; the oldest is overwritten.
struct QueueFaultRecord {
  std::uint32_t number = 0;       // 0   lower half
  std::uint32_t instruction = 0;  // 4   of an AI Core's program: InstructionPlace; 0: none
  std::uint64_t time_ns = 0;      // 8   DEVICE_TIME
  std::uint64_t address = 0;      // 16  of the access at fault, or the doorbell's value
  std::uint64_t index = 0;        // 24  of the entry in its queue
  std::uint16_t code = 0;         // 32  FaultCode
  std::uint8_t opcode = 0;        // 34  of the entry, 0 if none
  std::uint8_t vmid = 0;          // 35
  std::uint32_t pasid = 0;        // 36  the culprit; 0: the doorbell page belongs to nobody
  std::uint32_t queue = 0;        // 40  kNoQueue if it was no queue's doorbell
  std::uint16_t page = 0;         // 44  doorbell page
  std::uint16_t doorbell = 0;     // 46
  std::uint32_t tag = 0;          // 48  of the entry
  std::uint8_t write = 0;         // 52  the access was a write
  std::uint8_t flags = 0;         // 53  kFault...
  std::uint16_t core = 0;         // 54  1 + the core of a kernel's block; 0: no kernel's fault
  std::uint32_t block = 0;        // 56  of the launch
  std::uint32_t size = 0;         // 60  bytes of the access, or of the operand at fault; 0: unknown
};
static_assert(sizeof(QueueFaultRecord) == 64 && offsetof(QueueFaultRecord, code) == 32 &&
              offsetof(QueueFaultRecord, queue) == 40 && offsetof(QueueFaultRecord, tag) == 48);
inline constexpr std::uint8_t kFaultHost = 0x01;  // the address is a bus address
inline constexpr std::uint8_t kFaultContinued =
    0x02;  // of an entry with kEntryContinueOnError: it runs on
inline constexpr std::uint32_t kNoQueue = 0xFFFFFFFF;
inline constexpr std::uint32_t kQueueFaultSize = 64;

}  // namespace npu::abi
