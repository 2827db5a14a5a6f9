// SPDX-License-Identifier: Apache-2.0
// The queue descriptor (MQD), and what a queue has in memory beside its rings (requirements.md M8).
//
// The descriptor is 256 bytes of device-local memory, 256 B aligned, in memory that only the driver
// reaches. The first half is the driver's: it writes it before ADD_QUEUE, and again before
// UPDATE_QUEUE or while the queue is suspended. The second half is the card's: it reads it when it
// loads the queue into a slot and writes it when it unloads it, on QUERY_QUEUE and on a fault. The
// driver sets it before ADD_QUEUE: zeros for a new queue, a kept copy for one to be gone on with.
//
// Rings, indices and signal slots belong to user space. The card reaches them with the queue's
// VMID through the MMU, or (kQueue...Host) by bus addresses with the queue's PASID through the
// IOMMU: what is not mapped for the process is a fault, whatever the descriptor says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "npu/abi/queue_entry.hpp"

namespace npu::abi {

inline constexpr std::uint16_t kQueueFormat = 1;
inline constexpr std::uint32_t kMaxQueues = 4096;  // queue ids 0 .. kMaxQueues - 1 of a card
inline constexpr unsigned kMinLog2Ring = 2, kMaxLog2Ring = 16;  // entries, of both rings
inline constexpr std::uint8_t kMaxQueuePriority = 15;
inline constexpr unsigned kCoreMaskWords = 4;        // 256 AI Cores
inline constexpr std::uint32_t kSignalSlots = 4096;  // at most, per process
inline constexpr std::uint32_t kSignalSize = 8;      // one 64-bit value per slot

// QueueDescriptor::flags
inline constexpr std::uint16_t kQueueRingHost = 0x0001;        // ring_base is a bus address
inline constexpr std::uint16_t kQueueCompletionHost = 0x0002;  // completion_base
inline constexpr std::uint16_t kQueueIndexHost = 0x0004;       // read_index_, write_index_address
inline constexpr std::uint16_t kQueueSignalHost = 0x0008;      // signal_base
inline constexpr std::uint16_t kQueueInOrder = 0x0010;         // every entry as with kEntryBarrier
inline constexpr std::uint16_t kQueueFlags = 0x001F;

enum class QueueState : std::uint32_t {
  kIdle = 0,       // nothing to do, or not loaded
  kRunning = 1,    // has entries to work on
  kSuspended = 2,  // by the driver
  kFaulted = 3,    // stopped by a fault; REMOVE_QUEUE is all that helps
};

struct QueueDescriptor {
  // The driver's half.
  std::uint16_t format = kQueueFormat;    // 0
  std::uint16_t flags = 0;                // 2    kQueue...
  std::uint32_t queue_id = 0;             // 4    below kMaxQueues
  std::uint64_t ring_base = 0;            // 8    64 B aligned
  std::uint64_t completion_base = 0;      // 16   16 B aligned; 0: no completion entries
  std::uint64_t read_index_address = 0;   // 24   u64, written by the card; 0: none
  std::uint64_t write_index_address = 0;  // 32   u64, read when the queue is loaded; 0: none
  std::uint64_t signal_base = 0;          // 40   8 B aligned
  std::uint64_t save_area = 0;            // 48   device-local, kQueueSaveSize bytes; 0: none, so
                                          //      that a kernel runs to its end when preempted
  std::uint8_t log2_ring = 0;             // 56   entries
  std::uint8_t log2_completions = 0;      // 57   entries, not less than log2_ring
  std::uint8_t vmid = 0;                  // 58   not 0
  std::uint8_t priority = 0;              // 59   0 .. 15, the highest
  std::uint16_t doorbell = 0;             // 60   number in the page of the process
  std::uint16_t vector = 0;               // 62   MSI-X, of entries and of faults
  std::uint32_t pasid = 0;                // 64   not 0; 20 bits
  std::uint32_t quantum_us = 0;           // 68   0: the card's default
  std::uint32_t signal_slots = 0;         // 72   0 .. kSignalSlots
  std::uint8_t percentage = 100;          // 76   of the quantum, 1 .. 100
  std::array<std::uint8_t, 3> reserved0 = {};
  std::array<std::uint64_t, kCoreMaskWords> core_mask = {};  // 80  bit i of word i / 64: AI Core i
  std::array<std::uint64_t, 2> reserved1 = {};               // 112

  // The card's half.
  std::uint64_t read_index = 0;        // 128  entries taken
  std::uint64_t write_index = 0;       // 136  as last told by doorbell or memory
  std::uint64_t completion_index = 0;  // 144  completion entries written
  std::uint64_t completed = 0;         // 152  entries complete, failed ones included
  std::uint32_t state = 0;             // 160  QueueState
  std::uint16_t error = 0;             // 164  FaultCode that stopped it
  std::uint16_t saved = 0;             // 166  1: a QueueSaveRecord is in the save area
  std::uint64_t error_index = 0;       // 168  entry at fault
  std::uint64_t error_address = 0;     // 176
  std::uint64_t active_ns = 0;         // 184  time in a slot
  std::uint64_t maps = 0;              // 192  times loaded
  std::uint64_t preemptions = 0;       // 200  times unloaded with work left
  std::uint64_t doorbells = 0;         // 208
  std::array<std::uint64_t, 5> reserved2 = {};
};
static_assert(sizeof(QueueDescriptor) == 256);
static_assert(offsetof(QueueDescriptor, core_mask) == 80 &&
              offsetof(QueueDescriptor, read_index) == 128 &&
              offsetof(QueueDescriptor, doorbells) == 208);
inline constexpr std::uint32_t kQueueDescriptorSize = 256;
inline constexpr std::uint32_t kQueueStateOffset = 128;  // the card's half

// A kernel preempted at a block border: blocks below `next_block` are done.
struct QueueSaveRecord {
  QueueEntry entry;
  std::uint64_t index = 0;  // of the entry in the queue
  std::uint32_t next_block = 0;
  std::uint32_t reserved0 = 0;
  std::array<std::uint64_t, 6> reserved1 = {};
};
static_assert(sizeof(QueueSaveRecord) == 128);
inline constexpr std::uint32_t kQueueSaveSize = 128;

// --- Doorbells --------------------------------------------------------------------------------
// One page per process at DOORBELL_BASE + kDoorbellPageSize * page in BAR2, write only (reads 0),
// so that a process has access to its own ones alone. Doorbell d lies at 8 d; its value is the
// queue's write index: the number of entries ever written, never reduced by the ring's size.
// Written by 8 bytes, or by 4: then the low half rings, and the card takes the index nearest to
// the last one that has these low bits. A write of a high half alone does nothing, so that a
// 64-bit store may arrive as two halves in either order.
inline constexpr std::uint32_t kDoorbellPageSize = 4096;
inline constexpr std::uint32_t kDoorbellSize = 8;
inline constexpr std::uint16_t kSignalDoorbell = 511;  // value: a slot that the host has written,
                                                       // whose waiters are to look at it again
inline constexpr std::uint16_t kSignalWakesHost = 0x8000;  // added to it: and the process' vector
                                                           // is raised
inline constexpr std::uint16_t kQueueDoorbells = 511;      // for queues: 0 .. 510

// The index that a 4-byte doorbell `low` means behind `last`.
constexpr std::uint64_t extend_index(std::uint64_t last, std::uint32_t low) {
  return last + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                    static_cast<std::int32_t>(low - static_cast<std::uint32_t>(last))));
}

}  // namespace npu::abi
