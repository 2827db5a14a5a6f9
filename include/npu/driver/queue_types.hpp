// SPDX-License-Identifier: Apache-2.0
// Compute queues: options, states and statistics, for ProcessContext and Queue (requirements.md M8,
// docs/compute-queues.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "npu/abi/fault.hpp"
#include "npu/abi/instruction_fault.hpp"
#include "npu/abi/queue.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

struct QueueId {
  std::uint32_t value = 0;  // 0 .. abi::kMaxQueues - 1, unique on a card

  friend constexpr bool operator==(QueueId a, QueueId b) { return a.value == b.value; }
  friend constexpr bool operator!=(QueueId a, QueueId b) { return !(a == b); }
};

// The memory of a ring.
enum class QueueMemory : std::uint8_t {
  kHost,    // fetched by the card over the link
  kDevice,  // written by the host through BAR2 with write combining; pinned
};

// AI Cores that kernels of a queue may run on: bit i of word i / 64.
using CoreMask = std::array<std::uint64_t, abi::kCoreMaskWords>;
inline constexpr CoreMask kAllCores = {~0ULL, ~0ULL, ~0ULL, ~0ULL};
inline constexpr unsigned kMostCores = 64 * abi::kCoreMaskWords;
// The first `count` cores, at most kMostCores.
constexpr CoreMask first_cores(unsigned count) {
  CoreMask mask{};
  for (unsigned i = 0; i < count && i < kMostCores; ++i) {
    mask[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return mask;
}

struct RingSpec {
  QueueMemory memory = QueueMemory::kHost;
  unsigned log2_entries = 8;  // abi::kMinLog2Ring .. abi::kMaxLog2Ring: 4 .. 65536 entries
};

struct QueueOptions {
  RingSpec ring;
  QueueMemory completion_memory = QueueMemory::kHost;
  unsigned log2_completions = 0;  // from the ring's to kMaxLog2Ring; 0: the ring's
  unsigned priority = 7;          // 0 .. 15; 15 is the highest
  unsigned percentage = 100;      // 0 .. 100 of the quantum; 0: disabled
  Picoseconds quantum;            // whole microseconds up to 1000 s; 0: the card's default
  CoreMask core_mask = kAllCores;
  bool in_order = false;           // every entry waits for all entries before it
  bool preemptible = true;         // the card may preempt a kernel between two blocks
  bool interrupt = true;           // completions may send MSI-X; false: only polling works
  bool process_vector = false;     // completions also wake tasks that wait for signals
  bool indices_in_memory = false;  // the read and write index are also in host memory
};

// Only the fields that are set change. kNullRing or a percentage of 0 disables the queue. Entries
// submitted to a disabled queue run once neither holds any more.
struct QueueChange {
  enum class Ring : std::uint8_t {
    kKeep,
    kNullRing,  // disables the ring and keeps its entries
    kRestore,   // enables it
    kReplace,   // enables `ring` instead; entries that the card has not fetched move there
  };
  Ring ring_change = Ring::kKeep;
  RingSpec ring;
  std::optional<unsigned> priority;
  std::optional<unsigned> percentage;
  std::optional<Picoseconds> quantum;
  std::optional<CoreMask> core_mask;
};

// The state of a queue.
struct QueueStatus {
  QueueId id;
  abi::QueueState state = abi::QueueState::kIdle;  // from the card
  bool active = false;  // no fault, eviction, suspension or null ring, and percentage > 0
  bool null_ring = false;
  bool suspended = false;  // by ProcessContext::suspend()
  unsigned evictions = 0;  // of the process, nested
  bool faulted = false;    // stopped by a fault; it never runs again
  RingSpec ring;
  std::uint64_t ring_base = 0, completion_base = 0;  // addresses, as in the descriptor
  unsigned priority = 0, percentage = 0;
  CoreMask core_mask{};
  std::uint16_t doorbell = 0;
  // The card's half of the descriptor (abi/queue_descriptor.hpp).
  std::uint64_t read_index = 0, write_index = 0, completion_index = 0, completed = 0;
  abi::FaultCode error = abi::FaultCode::kNone;
  std::uint64_t error_index = 0, error_address = 0;
  Picoseconds active_time;
  std::uint64_t maps = 0, preemptions = 0, doorbells = 0;
};

// The result of suspend() or resume() for one queue.
enum class QueueResult : std::uint8_t {
  kDone,
  kInvalid,  // no such queue in this process
  kBusy,     // the queue is being destroyed
  // The card refused or did not answer, and the driver tries to restore the previous state. Or
  // other calls held the process until the deadline, or the process is closed.
  kError,
};

enum class QueueEnd : std::uint8_t {
  kDrained,  // all entries were complete, or the queue was not active
  kReset,    // entries in flight were aborted
};

// A record of the card's fault log.
struct QueueFault {
  abi::FaultCode code = abi::FaultCode::kNone;
  std::uint32_t pasid = 0;       // of the process at fault; 0: the doorbell page is unused
  std::optional<QueueId> queue;  // none: a doorbell without a queue
  std::uint64_t index = 0;       // of the entry
  std::uint64_t address = 0;     // of the access, or the value written to the doorbell
  std::uint32_t tag = 0;
  std::uint16_t page = 0, doorbell = 0;
  std::uint8_t opcode = 0;
  bool write = false, host = false;   // a write; a bus address
  bool continued = false;             // the queue runs on (QueueEntryOptions::continue_on_error)
  std::optional<std::uint32_t> core;  // of a kernel's block
  std::uint32_t block = 0;            // of the launch, if there is a core
  std::uint32_t size = 0;             // bytes of the access or operand at fault; 0: unknown
  std::optional<abi::InstructionPlace> instruction;  // of a program of an AI Core
  Picoseconds device_time;
};

// Of all processes of a card since it was opened.
struct QueueManagerStatistics {
  std::uint64_t calls = 0;        // of ProcessContext's members that need the queue manager
  std::uint64_t commands = 0;     // to the management ring
  std::uint64_t mmio_writes = 0;  // of the manager: registers, and 64 bytes of a descriptor each
  std::uint64_t mmio_reads = 0;
  std::uint64_t ring_full = 0;    // calls that met a full management ring
  std::uint64_t timeouts = 0;     // commands without an answer in time
  std::uint64_t restarts = 0;     // of the management ring after such a command
  std::uint64_t resets = 0;       // queues destroyed by reset
  std::uint64_t faults = 0;       // records read
  std::uint64_t faults_lost = 0;  // records overwritten before they were read, or lost on the way
  std::uint32_t processes = 0, mapped_processes = 0, queues = 0;  // now
  std::uint32_t pasids = 0, doorbell_pages = 0, queue_ids = 0;    // in use now
};

// Of one Queue.
struct QueueCounters {
  std::uint64_t submissions = 0;  // calls that put entries into the ring
  std::uint64_t entries = 0;
  std::uint64_t doorbells = 0;     // posted writes of 8 bytes
  std::uint64_t entry_writes = 0;  // entries written through BAR2, 64 bytes each
  std::uint64_t mmio_reads = 0;    // of a completion ring in device memory
  std::uint64_t ring_full = 0;     // submissions that waited for room
  std::uint64_t rejected = 0;      // submissions that got no room in time
  std::uint64_t completions = 0;   // completion entries read
  std::uint64_t failed = 0;        // completions with a fault; a timeout of a wait is none
  // Calls of wait(). Those that had to wait ended by polling (spun), by an interrupt (slept), by
  // asking the card (missed_interrupts) or not in time.
  std::uint64_t waits = 0, spun = 0, slept = 0, missed_interrupts = 0, timeouts = 0;
};

}  // namespace npu::driver
