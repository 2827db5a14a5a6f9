// SPDX-License-Identifier: Apache-2.0
// What user space writes into a compute queue's ring and reads from its completion ring
// (requirements.md M8; docs/compute-queues.md). The layout is npusim's own.
//
// Entries of a queue start in ring order. One with kEntryBarrier starts when all before it are
// complete, one without may run beside them (and complete before them). Device addresses are
// virtual ones of the queue's VMID; host addresses are bus addresses of mappings that carry the
// queue's PASID, and are never reached without it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "npu/abi/dma.hpp"
#include "npu/abi/element.hpp"

namespace npu::abi {

inline constexpr std::uint32_t kQueueEntrySize = 64;
inline constexpr std::uint8_t kQueueEntryFormat = 1;

// 0 is none, so that a ring of zeros holds nothing that can be executed. What the DMA engines do
// has their codes; below kLaunchAiCore there is nothing else.
enum class QueueOpcode : std::uint8_t {
  kHostToDevice = static_cast<std::uint8_t>(DmaOpcode::kHostToDevice),
  kDeviceToHost = static_cast<std::uint8_t>(DmaOpcode::kDeviceToHost),
  kDeviceToDevice = static_cast<std::uint8_t>(DmaOpcode::kDeviceToDevice),
  kPeerToPeer = static_cast<std::uint8_t>(DmaOpcode::kPeerToPeer),
  kFill = static_cast<std::uint8_t>(DmaOpcode::kFill),
  kPrefetch = static_cast<std::uint8_t>(DmaOpcode::kPrefetch),
  kLaunchAiCore = 0x10,
  kLaunchAicpu = 0x11,
  kEventRecord = 0x20,  // writes a signal slot when all entries before it are complete
  kEventWait = 0x21,    // holds up the entries behind it until a signal slot meets a condition
  kNotify = 0x22,       // MSI-X to the queue's vector when all entries before it are complete
  kBarrier = 0x23,      // complete when all entries before it are
  kTimestamp = 0x24,    // writes DEVICE_TIME (64 bit, ns) when all entries before it are complete
  kNop = 0x30,
};

constexpr std::string_view to_string(QueueOpcode opcode) {
  switch (opcode) {
    case QueueOpcode::kLaunchAiCore:
      return "launch AI Core";
    case QueueOpcode::kLaunchAicpu:
      return "launch AICPU";
    case QueueOpcode::kEventRecord:
      return "event record";
    case QueueOpcode::kEventWait:
      return "event wait";
    case QueueOpcode::kNotify:
      return "notify";
    case QueueOpcode::kBarrier:
      return "barrier";
    case QueueOpcode::kTimestamp:
      return "timestamp";
    case QueueOpcode::kNop:
      return "nop";
    default:
      return to_string(static_cast<DmaOpcode>(opcode));
  }
}

inline constexpr std::uint16_t kEntryBarrier = 0x0001;
inline constexpr std::uint16_t kEntryCompletion = 0x0002;   // write a completion entry at the end
inline constexpr std::uint16_t kEntryInterrupt = 0x0004;    // MSI-X at the end, behind everything
inline constexpr std::uint16_t kEntryHostAddress = 0x0008;  // kTimestamp: it goes to host memory
inline constexpr std::uint16_t kEntryContinueOnError =
    0x0010;  // its failure does not stop the queue, unless
             // it is malformed: then its flags say nothing
inline constexpr std::uint16_t kEntryMemorySignal =
    0x0020;  // kEventRecord, kEventWait: the signal is in device memory, at `address`
inline constexpr std::uint16_t kEntryFlags = 0x003F;  // any other makes it malformed

struct QueueEntry {
  std::uint8_t opcode = 0;                    // byte 0     QueueOpcode
  std::uint8_t format = kQueueEntryFormat;    // byte 1
  std::uint16_t flags = 0;                    // bytes 2-3  kEntry...
  std::uint32_t tag = 0;                      // bytes 4-7  comes back in the completion entry
  std::array<std::uint8_t, 56> payload = {};  // bytes 8-63 one of the structures below

  template <class Payload>
  void set(const Payload& value) {
    static_assert(sizeof(Payload) <= 56 && std::is_trivially_copyable_v<Payload>);
    payload = {};
    std::memcpy(payload.data(), &value, sizeof value);
  }
  template <class Payload>
  Payload get() const {
    static_assert(sizeof(Payload) <= 56 && std::is_trivially_copyable_v<Payload>);
    Payload value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
  }
};
static_assert(sizeof(QueueEntry) == kQueueEntrySize && offsetof(QueueEntry, tag) == 4 &&
              offsetof(QueueEntry, payload) == 8);

// Copies. Both addresses are device addresses, but for the host's side of H2D and D2H. P2P: the
// destination is a peer's memory mapped into this address space. kPrefetch: the lines of the source
// come to the L2, and the destination is 0.
struct CopyPayload {
  std::uint64_t source = 0;       // bytes 8-15 of the entry
  std::uint64_t destination = 0;  // bytes 16-23
  std::uint64_t size = 0;         // bytes 24-31, not 0
};
static_assert(sizeof(CopyPayload) == 24);

// A copy of kDeviceToDevice or kPeerToPeer that reduces: each element of the destination becomes
// operation(destination, source), in the memory that holds it, which is another card's if the
// destination is. Integers wrap; fp16, bf16 and fp32 are rounded to nearest even after each
// operation. Addresses and size are multiples of the element's size. In a CopyPayload these bytes
// are 0.
struct ReducePayload {
  std::uint64_t source = 0;       // bytes 8-15 of the entry
  std::uint64_t destination = 0;  // bytes 16-23
  std::uint64_t size = 0;         // bytes 24-31, not 0
  std::uint8_t operation = 0;     // byte 32, ReduceOperation; kNone: a copy
  std::uint8_t element = 0;       // byte 33, ElementType; 0 of a copy
  std::uint16_t reserved = 0;
  std::uint32_t reserved2 = 0;
};
static_assert(sizeof(ReducePayload) == 32);

struct FillPayload {
  std::uint64_t destination = 0;  // bytes 8-15, a multiple of 4
  std::uint64_t size = 0;         // bytes 16-23, a multiple of 4, not 0
  std::uint32_t pattern = 0;      // bytes 24-27
  std::uint32_t reserved = 0;
};
static_assert(sizeof(FillPayload) == 24);

struct LaunchPayload {
  std::uint32_t function = 0;        // bytes 8-11   0; any other is kInvalidFunction
  std::uint32_t blocks = 0;          // bytes 12-15  block count, not 0
  std::uint64_t arguments = 0;       // bytes 16-23  device address of the arguments, 64 B aligned
  std::uint32_t argument_bytes = 0;  // bytes 24-27  at most kMaxArgumentBytes
  std::uint32_t cores = 0;           // bytes 28-31  AI Cores that its blocks may be on, the first
                                     // of the queue's core mask; 0: all of them
  std::uint64_t image = 0;           // bytes 32-39  of an ImageHeader (kernel_image.hpp); 0 is none
  std::uint32_t mixed = 0;           // bytes 40-43  1: a block is of a whole cluster, and `cores`
                                     // counts clusters; 0: of one core. AICPUs have none
  std::uint32_t timeout_us = 0;      // bytes 44-47  longest run of a block on an AI Core; 0: no
                                     // limit. Over it: kTaskTimeout. AICPUs have none
};
static_assert(sizeof(LaunchPayload) == 40);
inline constexpr std::uint32_t kMaxArgumentBytes = 4096;

// kEventRecord: `value` into `slot` of the queue's signal page.
struct SignalPayload {
  std::uint32_t slot = 0;  // bytes 8-11
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;  // bytes 16-23
};
static_assert(sizeof(SignalPayload) == 16);

enum class WaitCondition : std::uint32_t {
  kReached = 0,  // slot - value, as a signed number, >= 0
  kEqual = 1,
  kNotEqual = 2,
};

// kEventWait.
struct WaitPayload {
  std::uint32_t slot = 0;        // bytes 8-11
  std::uint32_t condition = 0;   // bytes 12-15, WaitCondition
  std::uint64_t value = 0;       // bytes 16-23
  std::uint64_t timeout_ns = 0;  // bytes 24-31; 0: none. Over it: kWaitTimeout, the queue goes on
};
static_assert(sizeof(WaitPayload) == 24);

// The same with kEntryMemorySignal: a signal is 8 bytes of device memory, and a record may write
// another card's. Whoever writes them otherwise wakes the waiters, too. A wait that takes too long
// is a fault, kSignalTimeout: what comes behind it relies on the peer. A wait for another card's
// memory is kInvalidSignal.
struct MemorySignalPayload {
  std::uint32_t slot = 0;  // bytes 8-11   0
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;    // bytes 16-23
  std::uint64_t address = 0;  // bytes 24-31  a multiple of 8
};
static_assert(sizeof(MemorySignalPayload) == 24);

struct MemoryWaitPayload {
  std::uint32_t slot = 0;        // bytes 8-11   0
  std::uint32_t condition = 0;   // bytes 12-15
  std::uint64_t value = 0;       // bytes 16-23
  std::uint64_t timeout_ns = 0;  // bytes 24-31
  std::uint64_t address = 0;     // bytes 32-39  a multiple of 8
};
static_assert(sizeof(MemoryWaitPayload) == 32);

struct TimestampPayload {
  std::uint64_t address = 0;  // bytes 8-15, a multiple of 8
};
static_assert(sizeof(TimestampPayload) == 8);

// Written whole, in one access. Entry i of the ring is new when its phase is that of the pass:
// 1 in the first one over a zeroed ring, then 0, 1, ...
struct QueueCompletion {
  std::uint64_t read_index = 0;  // entries below it are taken: their places in the ring are free
  std::uint32_t tag = 0;         // of the entry
  std::uint16_t status = 0;      // FaultCode
  std::uint16_t phase = 0;       // kCompletion...; the others are 0
};
inline constexpr std::uint16_t kCompletionPhase = 0x0001;
inline constexpr std::uint16_t kCompletionContinued = 0x0002;  // after a fault: the queue runs on
static_assert(sizeof(QueueCompletion) == 16);
inline constexpr std::uint32_t kQueueCompletionSize = 16;

// Phase of the completion with number `index` (from 0, since the queue was made).
constexpr std::uint16_t completion_phase(std::uint64_t index, unsigned log2_completions) {
  return static_cast<std::uint16_t>(~(index >> log2_completions) & 1);
}

}  // namespace npu::abi
