// SPDX-License-Identifier: Apache-2.0
// A run of the chip-level runtime as it lies in device memory: what the driver's runtime writes and
// the scheduler firmware reads (requirements.md M6; runtime.md A3 names the limits). All addresses
// are device virtual ones of the run's process; 0 means none. The layout is npusim's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/abi/handshake.hpp"

namespace npu::abi {

inline constexpr std::uint32_t kGraphMagic = 0x4752'504E;  // "NPRG"
inline constexpr std::uint32_t kGraphVersion = 1;
inline constexpr std::uint32_t kMaxTasks = 131'072;
inline constexpr std::uint32_t kMaxTaskWords = 48;       // arguments of a task
inline constexpr std::uint32_t kMaxTaskProducers = 128;  // fan-in
inline constexpr std::uint32_t kMaxTaskBlocks = 32'767;
inline constexpr std::uint32_t kMaxWorkers = 108;
inline constexpr unsigned kMaxSchedulerThreads = 4;

// What a task's blocks run on.
enum class TaskShape : std::uint16_t {
  kNone = 0,   // nothing runs: only dependencies
  kAic = 1,    // one cube core
  kAiv = 2,    // one vector core
  kMixed = 3,  // one cube core and its two vector cores together
};

inline constexpr std::uint16_t kTaskCooperative = 0x0001;  // no block begins before all have a core

struct TaskDescriptor {
  std::uint64_t kernel = 0;          // 0   device address of an ImageHeader
  std::uint64_t arguments = 0;       // 8   device address of its argument words, 8 B each
  std::uint64_t predicate = 0;       // 16  device address of a u32; the task is skipped if it is 0
                                     //     when the task becomes ready
  std::uint32_t words = 0;           // 24  argument words
  std::uint32_t blocks = 1;          // 28  not 0
  std::uint16_t shape = 0;           // 32  TaskShape
  std::uint16_t flags = 0;           // 34  kTask...
  std::uint32_t first_producer = 0;  // 36  in the list of producers
  std::uint32_t producers = 0;       // 40  tasks that must end before
  std::uint32_t kernel_id = 0;       // 44  the registered function, for people
  std::uint64_t user = 0;            // 48  the builder's own
  std::uint32_t first_dump = 0;      // 56  in the list of tensors to be dumped
  std::uint32_t dumps = 0;           // 60
};
static_assert(sizeof(TaskDescriptor) == 64 && offsetof(TaskDescriptor, dumps) == 60);

// When a tensor is copied (runtime.md A5).
enum class DumpStage : std::uint32_t {
  kBeforeDispatch = 1,   // all producers have ended, no block has a core
  kAfterCompletion = 2,  // all blocks have ended, no consumer has been told
};

// A tensor that the scheduler copies aside. Entries of a task lie side by side.
struct TensorDump {
  std::uint64_t tensor = 0;    // 0   device address of its bytes
  std::uint64_t copy = 0;      // 8   and where they go, a cache line's start
  std::uint64_t bytes = 0;     // 16
  std::uint32_t argument = 0;  // 24  place among the task's arguments
  std::uint32_t stage = 0;     // 28  DumpStage
  std::uint64_t taken = 0;     // 32  system counter when the copy was complete; 0: it was not made
  std::uint64_t reserved[3] = {};
};
static_assert(sizeof(TensorDump) == 64 && offsetof(TensorDump, taken) == 32);

// Arguments of the scheduler's launch (every thread is a block of it) and of the executor's.
struct RunHeader {
  std::uint32_t magic = kGraphMagic;      // 0
  std::uint32_t version = kGraphVersion;  // 4
  std::uint32_t tasks = 0;                // 8
  std::uint32_t workers = 0;              // 12  blocks of the executor's launch
  std::uint32_t threads = 1;              // 16  scheduler threads, 1 .. kMaxSchedulerThreads
  std::uint32_t handshake = 0;            // 20  HandshakeKind
  std::uint32_t flags = 0;                // 24  kRun...
  std::uint32_t clusters = 0;             // 28  AIC + 2 AIVs each, or coupled cores
  std::uint64_t descriptors = 0;          // 32  TaskDescriptor[tasks]
  std::uint64_t producers = 0;            // 40  u32 per producer of all tasks
  std::uint64_t handshakes = 0;           // 48  Handshake[workers]
  std::uint64_t payloads = 0;             // 56  DispatchPayload[workers][kPayloadsPerWorker]
  std::uint64_t scratch = 0;              // 64  the scheduler's own, zeroed; see scratch_bytes
  std::uint64_t scratch_bytes = 0;        // 72  at least run_scratch_bytes(tasks, producers)
  std::uint64_t result = 0;               // 80  RunResult
  std::uint64_t records = 0;              // 88  TaskRecord[record_count]; kRunProfile
  std::uint64_t record_count = 0;         // 96
  std::uint64_t watchdog_ns = 0;     // 104 without a task's end: the diagnosis is there by then
  std::uint32_t producer_count = 0;  // 112 entries of `producers`
  std::uint32_t pmu_group = 0;       // 116 0: off
  std::uint64_t pmu = 0;             // 120 PmuRecord[workers]; if pmu_group is not 0
  std::uint64_t dumps = 0;           // 128 TensorDump[dump_count]
  std::uint64_t dump_count = 0;      // 136
  std::uint64_t reserved[14] = {};   // 144
};
static_assert(sizeof(RunHeader) == 256 && offsetof(RunHeader, watchdog_ns) == 104);

inline constexpr std::uint32_t kRunSingleIssue = 0x0001;  // no pending slot on a core
inline constexpr std::uint32_t kRunProfile = 0x0002;      // write a TaskRecord for each block

constexpr std::uint64_t run_scratch_bytes(std::uint64_t tasks, std::uint64_t producers) {
  return 64 * tasks + 16 * producers + 65'536;
}

enum class RunStatus : std::uint32_t {
  kOk = 0,
  kRunning = 1,        // the result was never written
  kBadHeader = 2,      // header, descriptor or list out of range
  kNotCoresident = 7,  // blocks that must begin together need more cores than there are; codes 7,
                       // 100 and 104 are the source's
  kTimeout = 100,      // no task has ended for the watchdog's time; `reason` says why
  kReadyOverflow = 104,
  kKernelFailed = 110,   // a kernel returned non-zero
  kCoreException = 111,  // a core stopped with a fault
  kCoreMissing = 112,    // a worker never answered
};

// Of kTimeout: which was there, in this order of priority (runtime.md A7).
enum class StallReason : std::uint32_t {
  kNone = 0,
  kRunning = 1,       // a task was on a core
  kReady = 3,         // a task was ready, and no core took it
  kWaiting = 4,       // only tasks that wait for others: a cycle, or a producer that never ends
  kOrchestrator = 5,  // the graph is not wired yet, and all that is wired waits
  kOther = 99,
};

struct RunResult {
  std::uint32_t status = static_cast<std::uint32_t>(RunStatus::kRunning);  // 0
  std::uint32_t reason = 0;                                                // 4   StallReason
  std::uint32_t completed = 0;                                             // 8   tasks
  std::uint32_t task = 0xFFFF'FFFF;           // 12  the one in question
  std::uint32_t worker = 0xFFFF'FFFF;         // 16  and where it ran
  std::uint32_t physical_core = 0xFFFF'FFFF;  // 20
  std::uint32_t detail = 0;                   // 24  KernelResult, FaultCode
  std::uint32_t waits_for = 0xFFFF'FFFF;      // 28  a producer the task waits for
  std::uint32_t running = 0;                  // 32  tasks then on cores
  std::uint32_t ready = 0;                    // 36  tasks then in queues
  std::uint32_t waiting = 0;                  // 40  tasks then with open producers
  std::uint32_t cond = 0;                     // 44  COND of the core in question
  // System counter ticks: scheduler started, cores known, graph wired, last task done, cores gone.
  std::uint64_t started = 0;            // 48
  std::uint64_t handshaken = 0;         // 56
  std::uint64_t wired = 0;              // 64
  std::uint64_t finished = 0;           // 72
  std::uint64_t ended = 0;              // 80
  std::uint64_t dispatched_blocks = 0;  // 88
  std::uint64_t polls = 0;              // 96  looks at cores, in rounds that found something
  std::uint64_t counter_hz = 0;         // 104 of the ticks
  std::uint32_t unwired = 0;            // 112 tasks then not wired yet
  std::uint32_t block = 0xFFFF'FFFF;    // 116 of the task
  std::uint64_t dump_ticks = 0;         // 120 of all threads, for copies of tensors
};
static_assert(sizeof(RunResult) == 128 && offsetof(RunResult, started) == 48);

// One block of a task as scheduler and core saw it; ticks of the system counter.
struct TaskRecord {
  std::uint32_t task = 0;           // 0
  std::uint32_t block = 0;          // 4
  std::uint32_t worker = 0;         // 8
  std::uint32_t dispatch = 0;       // 12  dispatch id; 0: the record was never written
  std::uint64_t ready = 0;          // 16
  std::uint64_t sent = 0;           // 24
  std::uint64_t begun = 0;          // 32  by the core
  std::uint64_t ended = 0;          // 40  by the core
  std::uint64_t seen = 0;           // 48  by the scheduler
  std::uint32_t thread = 0;         // 56
  std::uint32_t physical_core = 0;  // 60
};
static_assert(sizeof(TaskRecord) == 64);

// What a core's PMU counted during the run.
struct PmuRecord {
  std::uint32_t counters[8] = {};   // 0   of the group's events, in their order
  std::uint64_t clocks = 0;         // 32  of the core
  std::uint32_t physical_core = 0;  // 40
  std::uint32_t core_type = 0;      // 44  CoreType
  std::uint32_t group = 0;          // 48  0: the record was never written
  std::uint32_t reserved[3] = {};
};
static_assert(sizeof(PmuRecord) == 64 && offsetof(PmuRecord, clocks) == 32);

}  // namespace npu::abi
