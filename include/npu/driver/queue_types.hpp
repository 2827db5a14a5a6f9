// SPDX-License-Identifier: Apache-2.0
// Compute queues (requirements.md M8, docs/compute-queues.md): what their manager is told and
// tells.
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
  std::uint32_t value = 0;  // 0 .. abi::kMaxQueues - 1, of a card

  friend constexpr bool operator==(QueueId a, QueueId b) { return a.value == b.value; }
  friend constexpr bool operator!=(QueueId a, QueueId b) { return !(a == b); }
};

// Where a ring lies.
enum class QueueMemory : std::uint8_t {
  kHost,    // fetched by the card over the link
  kDevice,  // written through BAR2 with write combining; pinned
};

// AI Cores that kernels of a queue may run on: bit i of word i / 64.
using CoreMask = std::array<std::uint64_t, abi::kCoreMaskWords>;
inline constexpr CoreMask kAllCores = {~0ULL, ~0ULL, ~0ULL, ~0ULL};
inline constexpr unsigned kMostCores = 64 * abi::kCoreMaskWords;
// No more than there are bits for.
constexpr CoreMask first_cores(unsigned count) {
  CoreMask mask{};
  for (unsigned i = 0; i < count && i < kMostCores; ++i) {
    mask[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return mask;
}

struct RingSpec {
  QueueMemory memory = QueueMemory::kHost;
  unsigned log2_entries = 8;  // kMinLog2Ring .. kMaxLog2Ring
};

struct QueueOptions {
  RingSpec ring;
  QueueMemory completion_memory = QueueMemory::kHost;
  unsigned log2_completions = 0;  // not less than the ring's; 0: as many as the ring has entries
  unsigned priority = 7;          // 0 .. 15, the highest
  unsigned percentage = 100;      // 0 .. 100 of the quantum; 0: disabled
  Picoseconds quantum;            // whole microseconds; 0: the card's default
  CoreMask core_mask = kAllCores;
  bool in_order = false;           // every entry waits for those before it
  bool preemptible = true;         // a kernel may give way between two blocks
  bool interrupt = true;           // completions may send MSI-X; off: only polling works
  bool process_vector = false;     // they wake who waits for signals of the process, too
  bool indices_in_memory = false;  // read and write index also lie in host memory
};

// What is set changes. A ring that is `kNullRing` or a percentage of 0 disables the queue: what is
// submitted meanwhile runs once it has both again.
struct QueueChange {
  enum class Ring : std::uint8_t {
    kKeep,
    kNullRing,  // takes the ring away; its entries are kept
    kRestore,   // gives it back
    kReplace,   // `ring` instead; entries that the card has not taken move there
  };
  Ring ring_change = Ring::kKeep;
  RingSpec ring;
  std::optional<unsigned> priority;
  std::optional<unsigned> percentage;
  std::optional<Picoseconds> quantum;
  std::optional<CoreMask> core_mask;
};

// Why a queue does not run, or that it may.
struct QueueStatus {
  QueueId id;
  abi::QueueState state = abi::QueueState::kIdle;  // as the card says
  bool active = false;                             // none of the following
  bool null_ring = false;
  bool suspended = false;  // by ProcessContext::suspend()
  unsigned evictions = 0;  // nested ones
  bool faulted = false;    // for good
  RingSpec ring;
  std::uint64_t ring_base = 0, completion_base = 0;  // as in the descriptor
  unsigned priority = 0, percentage = 0;
  CoreMask core_mask{};
  std::uint16_t doorbell = 0;
  // The card's half of the descriptor (queue_descriptor.hpp).
  std::uint64_t read_index = 0, write_index = 0, completion_index = 0, completed = 0;
  abi::FaultCode error = abi::FaultCode::kNone;
  std::uint64_t error_index = 0, error_address = 0;
  Picoseconds active_time;
  std::uint64_t maps = 0, preemptions = 0, doorbells = 0;
};

// Of suspend() and resume(), per id.
enum class QueueResult : std::uint8_t {
  kDone,
  kInvalid,  // no such queue in this process
  kBusy,     // is being destroyed
  kError,    // the card has refused, or did not answer in time: the queue is to be as before
};

enum class QueueEnd : std::uint8_t {
  kDrained,  // everything submitted was complete, or the queue was not active
  kReset,    // work was given up
};

// One record of the card's fault log.
struct QueueFault {
  abi::FaultCode code = abi::FaultCode::kNone;
  std::uint32_t pasid = 0;       // the culprit's; 0: a doorbell page of nobody
  std::optional<QueueId> queue;  // none: a doorbell that is no queue's
  std::uint64_t index = 0;       // of the entry
  std::uint64_t address = 0;     // of the access, or the doorbell's value
  std::uint32_t tag = 0;
  std::uint16_t page = 0, doorbell = 0;
  std::uint8_t opcode = 0;
  bool write = false, host = false;
  bool continued = false;  // the queue has not stopped: QueueEntryOptions::continue_on_error
  std::optional<std::uint32_t> core;  // of a kernel's block
  std::uint32_t block = 0;            // of the launch, if there is a core
  std::uint32_t size = 0;             // bytes of the access or operand at fault; 0: unknown
  std::optional<abi::InstructionPlace> instruction;  // of an AI Core's program
  Picoseconds device_time;
};

// Of all processes of a card, since it was opened.
struct QueueManagerStatistics {
  std::uint64_t calls = 0;        // of ProcessContext's members that need the manager
  std::uint64_t commands = 0;     // of the management ring
  std::uint64_t mmio_writes = 0;  // of the manager: registers, descriptors
  std::uint64_t mmio_reads = 0;
  std::uint64_t ring_full = 0;    // calls that met a full management ring
  std::uint64_t timeouts = 0;     // commands that were not answered in time
  std::uint64_t restarts = 0;     // of the management ring, to get over such a command
  std::uint64_t resets = 0;       // queues destroyed by reset
  std::uint64_t faults = 0;       // records read
  std::uint64_t faults_lost = 0;  // overwritten before they were read, or never arrived
  std::uint32_t processes = 0, mapped_processes = 0, queues = 0;  // now
  std::uint32_t pasids = 0, doorbell_pages = 0, queue_ids = 0;    // in use now
};

// Of one queue's handle; a submission is what these count and nothing else.
struct QueueCounters {
  std::uint64_t submissions = 0;  // calls that put entries into the ring
  std::uint64_t entries = 0;
  std::uint64_t doorbells = 0;     // posted writes of 8 bytes
  std::uint64_t entry_writes = 0;  // entries written through BAR2, 64 bytes each
  std::uint64_t mmio_reads = 0;    // of a completion ring in device memory
  std::uint64_t ring_full = 0;     // submissions that had to wait for room
  std::uint64_t rejected = 0;      // and got none
  std::uint64_t completions = 0;   // completion entries read
  std::uint64_t failed = 0;        // those of entries at fault
  std::uint64_t waits = 0, spun = 0, slept = 0, missed_interrupts = 0, timeouts = 0;
};

}  // namespace npu::driver
