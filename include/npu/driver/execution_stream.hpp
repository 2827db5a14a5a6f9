// SPDX-License-Identifier: Apache-2.0
// A stream: copies, fills, kernels, records and waits run in the order in which they were
// submitted, whatever cores they are for. It is an in-order compute queue for each kind of cores,
// made when it is needed. Where work goes from one to the other, it waits for a signal that the
// work before it records; both entries go out with the work, by its doorbell.
//
// Submit work by a stream: outside programs, operators and kernels of workloads do. There are three
// other ways. Queue (queue.hpp) shows rings, doorbells and entries that overtake each other, to
// programs that measure them. Device (device.hpp) copies by the DMA ring, without a process.
// DeviceContext::run() runs graphs, whose scheduler is a program of the AICPUs.
//
// Members may be called from several tasks at once. The process outlives its streams, and a stream
// outlives nothing: marks and records of one that is gone count as complete.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "npu/base/byte_span.hpp"
#include "npu/driver/argument_pool.hpp"
#include "npu/driver/kernel_module.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {

// What a kernel runs on. Copies and fills count as work for vector cores.
enum class LaunchCores : std::uint8_t { kVector, kCube };
inline constexpr std::size_t kLaunchCores = 2;

// What an entry at fault does to the entries behind it.
enum class StreamErrorMode : std::uint8_t {
  kContinue,  // continue on error: they run
  kStop,      // they are dropped, and the stream takes new work after the next synchronisation
};

struct ExecutionStreamOptions {
  std::array<CoreMask, kLaunchCores> cores{kAllCores, kAllCores};  // by LaunchCores
  unsigned priority = 7;                                           // as QueueOptions has it
  bool preemptible = true;                                         // as QueueOptions has it
  // Of synchronize() and marks. kPolling: the card sends no interrupts for this stream.
  WaitPolicy wait = WaitPolicy::kAdaptive;
  StreamErrorMode on_error = StreamErrorMode::kContinue;
};

class StreamLane;

// The end of something that was submitted. A copy of it may outlive the stream.
class NPU_API StreamMark {
 public:
  StreamMark() = default;
  // True for one that is empty, whose outcome was forgotten, or whose stream is gone; an entry that
  // has failed has ended, too.
  bool is_done() const;
  // One look. True also for an outcome that was forgotten. kDeviceFault: the entry failed, or an
  // earlier one has stopped the queue; kAborted: the stream is gone.
  Result<bool> query() const;
  // By the stream's policy, or by one of the caller's. kTimeout; kUnsupported: kInterrupt on a
  // stream without interrupts. kDeviceFault: the stream's synchronize() says more.
  Status wait(Instant deadline, std::optional<WaitPolicy> policy = {}) const;
  // Of the last entry.
  const QueueTicket& ticket() const { return ticket_; }

 private:
  friend class ExecutionStream;
  StreamMark(std::shared_ptr<StreamLane> lane, const QueueTicket& ticket)
      : lane_(std::move(lane)), ticket_(ticket) {}

  std::shared_ptr<StreamLane> lane_;
  QueueTicket ticket_;
};

class StreamSignal;

// A record of an event: a place in a stream's order that other streams can wait for. Each record
// is one of its own, whatever is recorded later.
class NPU_API StreamRecord {
 public:
  const StreamMark& mark() const { return mark_; }

 private:
  friend class ExecutionStream;
  StreamMark mark_;
  std::shared_ptr<StreamSignal> signal_;
  std::uint64_t value_ = 0;
};

// The first fault of what has ended since the last time that somebody asked.
struct LaunchFault {
  LaunchCores cores = LaunchCores::kVector;
  std::optional<QueueFault> fault;  // as the card says; none: it has said nothing
  std::string text;                 // one line
};

struct KernelLaunch {
  std::shared_ptr<const KernelModule> module;
  LaunchCores cores = LaunchCores::kVector;
  std::uint32_t blocks = 1;      // not 0
  std::uint32_t bytes = 0;       // of arguments: 0 .. abi::kMaxArgumentBytes
  std::uint32_t most_cores = 0;  // of the stream's, the first ones; 0: all
  // Writes the arguments, which the kernel will see at `device`. An error of it is launch()'s.
  std::function<Status(ByteSpan host, DeviceAddress device)> write;
};

class NPU_API ExecutionStream {
 public:
  // `process` and `arguments`, which all streams of the process have in common, outlive it.
  // kOutOfResources: all queues in use; and what ProcessContext::create_queue() says.
  static Result<std::unique_ptr<ExecutionStream>> open(ProcessContext& process,
                                                       ArgumentPool& arguments,
                                                       const ExecutionStreamOptions& options = {});
  // As close() now.
  ~ExecutionStream();
  ExecutionStream(const ExecutionStream&) = delete;
  ExecutionStream& operator=(const ExecutionStream&) = delete;

  // The queue for these cores is made now, so that no launch makes it. What
  // ProcessContext::create_queue() says.
  Status prepare(LaunchCores cores);

  // A ring has 256 places, and a submission may come with a wait and a record of the stream's own.
  static constexpr std::size_t kMostEntries = 254;
  // Behind everything before, where the last work was; waits for room in the ring. `keep` lives
  // until the work has ended. kInvalidArgument: no entry, or more than kMostEntries. kAborted: the
  // stream is closed; kQueueFull: no room in a minute of the platform's time; what
  // Queue::submit() and TimeSliceClient::submit() say.
  Result<StreamMark> submit(const abi::QueueEntry* entries, std::size_t count,
                            std::shared_ptr<const void> keep = {});
  // kInvalidArgument: no module, 0 blocks, too many bytes; else as submit().
  Result<StreamMark> launch(const KernelLaunch& launch);
  // `at`: where the card writes its time in ns, 8 bytes of memory that is bound to the process.
  Result<StreamRecord> record(platform::BusAddress at, std::shared_ptr<const void> keep = {});
  // What comes later waits for the record, of a stream of the same process.
  Status wait_for(const StreamRecord& record);

  // Until everything is done. Nothing: all of it has ended well. kTimeout; kAborted: closed.
  Result<std::optional<LaunchFault>> synchronize(Instant deadline);
  // The same as a status: a fault is kDeviceFault with its text.
  Status wait(Instant deadline);
  struct State {
    bool done = false;
    std::optional<LaunchFault> fault;
  };
  // One look. kAborted: closed.
  Result<State> query();
  // Of all that was submitted so far; a submission that waits for room is not among it, and nobody
  // waits here for it.
  StreamMark last() const;

  // Waits until everything is done, gives up at `deadline` what is not, and takes nothing more.
  // Streams that wait for its records go on.
  void close(Instant deadline);
  // Of what is submitted from now on.
  void set_error_mode(StreamErrorMode mode);
  // Of kernels that have not begun. What ProcessContext::update() says.
  Status set_cores(LaunchCores kind, const CoreMask& cores);

  struct Impl;  // the driver's own

 private:
  explicit ExecutionStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
