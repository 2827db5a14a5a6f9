// SPDX-License-Identifier: Apache-2.0
// A run as the scheduler's threads see it: the header, and where in the scratch memory things lie
// that the threads share. Shared state is only ever touched through the port.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "npu/abi/task_graph.hpp"
#include "npu/platform/aicpu_port.hpp"

namespace npu::firmware {

using platform::AicpuPhase;
using platform::AicpuPort;

inline constexpr std::uint32_t kNoTask = 0xFFFF'FFFF;
inline constexpr std::uint32_t kNoBlock = 0xFFFF'FFFF;
inline constexpr std::uint32_t kNoWorker = 0xFFFF'FFFF;

// A task's state, two to a cache line.
//
// `arrived` counts producers that have ended. Wiring adds, at its end, what has arrived without
// telling minus the number of producers; who brings it (back) to 0 makes the task ready.
// `successors` is the last wired edge + 1, 0 without one, kClosed when the task has ended: a
// consumer that is wired too late finds it so.
struct TaskState {
  std::uint32_t arrived = 0;     // 0
  std::uint32_t successors = 0;  // 4
  std::uint32_t kind = 0;        // 8   TaskKind, 0: not wired yet
  std::uint32_t next_block = 0;  // 12  first block that nobody has taken
  std::uint32_t lanes_done = 0;  // 16  of all blocks; a mixed block has one per core
  std::uint32_t mark = 0;        // 20  the diagnosis was here
  std::uint64_t ready_at = 0;    // 24  kRunProfile: ticks
};
static_assert(sizeof(TaskState) == 32);
inline constexpr std::uint32_t kClosed = 0xFFFF'FFFF;

// An edge of the graph: of a producer's list of consumers.
struct Edge {
  std::uint32_t consumer = 0;
  std::uint32_t next = 0;  // edge + 1
};
static_assert(sizeof(Edge) == 8);

// Queues of ready tasks, in the order in which they are served.
enum class ReadyClass : std::uint8_t { kCooperative, kMixed, kAic, kAiv };
inline constexpr unsigned kReadyClasses = 4;

// What has to be known of a task to queue it: one word of its state.
class TaskKind {
 public:
  TaskKind() = default;
  TaskKind(abi::TaskShape shape, bool cooperative, bool predicated, std::uint32_t blocks)
      : word_(static_cast<std::uint32_t>(shape) | (cooperative ? kCooperative : 0U) |
              (predicated ? kPredicated : 0U) | class_of(shape, cooperative) << kClass | kWired |
              blocks << kBlocks) {
    const bool core = shape == abi::TaskShape::kAic || shape == abi::TaskShape::kAiv;
    if (core && blocks == 1 && !cooperative && !predicated) word_ |= kPlain;
  }
  static TaskKind from(std::uint32_t word) {
    TaskKind kind;
    kind.word_ = word;
    return kind;
  }

  std::uint32_t word() const { return word_; }  // never 0 of a task that is wired
  abi::TaskShape shape() const { return static_cast<abi::TaskShape>(word_ & 3); }
  bool cooperative() const { return (word_ & kCooperative) != 0; }
  bool predicated() const { return (word_ & kPredicated) != 0; }
  ReadyClass ready_class() const { return static_cast<ReadyClass>(word_ >> kClass & 3); }
  std::uint32_t blocks() const { return word_ >> kBlocks; }
  // One block on one core, under no condition and with no other task.
  bool plain() const { return (word_ & kPlain) != 0; }

 private:
  static constexpr std::uint32_t kCooperative = 1U << 2, kPredicated = 1U << 3, kPlain = 1U << 6,
                                 kWired = 1U << 7;
  static constexpr unsigned kClass = 4, kBlocks = 16;  // where they begin

  static std::uint32_t class_of(abi::TaskShape shape, bool cooperative) {
    constexpr std::array<ReadyClass, 4> kClasses{ReadyClass::kAiv, ReadyClass::kAic,
                                                 ReadyClass::kAiv, ReadyClass::kMixed};
    const auto cls = kClasses[static_cast<unsigned>(shape)];
    return static_cast<std::uint32_t>(cooperative ? ReadyClass::kCooperative : cls);
  }

  std::uint32_t word_ = 0;
};

// Why all threads leave their loops.
enum class Stop : std::uint32_t { kNone = 0, kFailed = 1, kTimeout = 2 };
// Of a thread. Thread 0 cancels one that has not come by the end.
enum class Presence : std::uint32_t { kAbsent = 0, kThere = 1, kCancelled = 2, kGone = 3 };

// The scratch memory's first 64 KiB, by offset; every word that threads contend for has a line of
// its own.
namespace scratch {
inline constexpr std::uint64_t kStop = 0x000;               // Stop
inline constexpr std::uint64_t kCoresKnown = 0x040;         // u32: 1 when kWorkers is written
inline constexpr std::uint64_t kFailure = 0x080;            // abi::RunResult, up to `cond`
inline constexpr std::uint64_t kFailedBlock = 0x0B0;        // u32: abi::RunResult::block
inline constexpr std::uint64_t kCooperative = 0x0C0;        // u64: blocks claimed | task + 1 << 32
inline constexpr std::uint64_t kCooperativeLock = 0x100;    // u32: thread + 1 whose request it is
inline constexpr std::uint64_t kCooperativePlaced = 0x180;  // u32: blocks that have a core
inline constexpr std::uint64_t kCooperativeRung = 0x1C0;    // u32: blocks that have begun
inline constexpr std::uint64_t kRecords = 0x140;            // u64: records given out
inline constexpr std::uint64_t kNews = 0x600;               // u32: changes that all threads look at
inline constexpr std::uint64_t kPresence = 0x200;           // a line per thread
inline constexpr std::uint64_t kProgress = 0x300;           // ThreadProgress, a line per thread
inline constexpr std::uint64_t kDiagnosis = 0x400;          // ThreadDiagnosis, a line per thread
inline constexpr std::uint64_t kQueues = 0x500;    // u64 head | tail << 32, a line per class
inline constexpr std::uint64_t kWorkers = 0x800;   // u32 physical core | type << 24, each
inline constexpr std::uint64_t kTasks = 0x1'0000;  // TaskState[tasks]
}  // namespace scratch

// What a thread tells the others about itself.
struct ThreadProgress {
  std::uint32_t completed = 0;   // 0   tasks it has ended
  std::uint32_t lanes = 0;       // 4   blocks it has seen ending on cores
  std::uint16_t idle_aic = 0;    // 8   its cores without work
  std::uint16_t idle_aiv = 0;    // 10
  std::uint32_t copied = 0;      // 12  pieces of tensors it has copied
  std::uint64_t dispatched = 0;  // 16  at its end
  std::uint64_t polls = 0;       // 24
  std::uint64_t dump_ticks = 0;  // 32
};

class RunView {
 public:
  RunView(AicpuPort& port, std::uint64_t address) : port_(port), address_(address) {
    port.read(address, &header_, sizeof header_);
  }

  const abi::RunHeader& header() const { return header_; }
  std::uint64_t address() const { return address_; }
  AicpuPort& port() const { return port_; }
  bool has(std::uint32_t flag) const { return (header_.flags & flag) != 0; }

  std::uint64_t control(std::uint64_t offset) const { return header_.scratch + offset; }
  std::uint64_t thread_line(std::uint64_t offset, unsigned thread) const {
    return control(offset) + thread * abi::kCacheLine;
  }
  std::uint64_t task(std::uint32_t task, std::size_t field) const {
    return control(scratch::kTasks) + std::uint64_t{task} * sizeof(TaskState) + field;
  }
  std::uint64_t ring(ReadyClass cls) const {
    return control(scratch::kTasks) + std::uint64_t{header_.tasks} * sizeof(TaskState) +
           static_cast<unsigned>(cls) * std::uint64_t{header_.tasks} * 4;
  }
  std::uint64_t edge(std::uint32_t edge) const {
    return control(scratch::kTasks) + std::uint64_t{header_.tasks} * (sizeof(TaskState) + 16) +
           std::uint64_t{edge} * sizeof(Edge);
  }
  std::uint64_t descriptor(std::uint32_t task) const {
    return header_.descriptors + std::uint64_t{task} * sizeof(abi::TaskDescriptor);
  }
  std::uint64_t handshake(std::uint32_t worker, std::size_t field) const {
    return header_.handshakes + std::uint64_t{worker} * sizeof(abi::Handshake) + field;
  }
  std::uint64_t payload(std::uint32_t worker, std::uint32_t dispatch) const {
    return header_.payloads + (std::uint64_t{worker} * abi::kPayloadsPerWorker + (dispatch & 1)) *
                                  sizeof(abi::DispatchPayload);
  }

  std::uint32_t load32(std::uint64_t at) const {
    return static_cast<std::uint32_t>(port_.load(at, 4));
  }
  void store32(std::uint64_t at, std::uint32_t value) const { port_.store(at, 4, value); }
  abi::TaskDescriptor read_descriptor(std::uint32_t task) const {
    abi::TaskDescriptor descriptor;
    port_.read(this->descriptor(task), &descriptor, sizeof descriptor);
    return descriptor;
  }
  TaskKind kind(std::uint32_t task) const {
    return TaskKind::from(load32(this->task(task, offsetof(TaskState, kind))));
  }
  // The system counter, so many ticks from now.
  std::uint64_t in(std::uint64_t ticks) const { return port_.system_counter() + ticks; }
  std::uint64_t watchdog_ticks() const {
    const std::uint64_t hz = port_.counter_hz();
    const std::uint64_t ns = header_.watchdog_ns;
    return ns / 1'000'000'000 * hz + ns % 1'000'000'000 * (hz / 1000) / 1'000'000 + 1;
  }

 private:
  AicpuPort& port_;
  const std::uint64_t address_;
  abi::RunHeader header_;
};

// Whether the scheduler can go by this header at all.
bool header_is_valid(const abi::RunHeader& header, unsigned threads);
// Whether a task's descriptor is one, its list of producers excepted.
bool descriptor_is_valid(const abi::RunHeader& header, const abi::TaskDescriptor& task);

}  // namespace npu::firmware
