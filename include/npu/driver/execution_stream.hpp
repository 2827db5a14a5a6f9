// SPDX-License-Identifier: Apache-2.0
// An execution stream runs copies, fills, kernels, records and waits in the order of their
// submission. This is the normal way to submit work.
//
// A stream has an in-order compute queue for vector cores, and others for cube cores and for mixed
// launches once it needs them. Work on another queue than the work before it waits for a signal of
// that work. The entries for this are submitted with the work, by the same doorbell.
//
// There are three other ways. Queue (queue.hpp) is for programs that measure rings, doorbells and
// reordering. Device (device.hpp) copies by the DMA ring, without a process. DeviceContext::run()
// runs task graphs, with a scheduler on the AICPUs.
//
// All members may be called from several tasks at once. The process outlives its streams. Marks and
// records may outlive their stream.
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
#include "npu/driver/stream_graph.hpp"

namespace npu::driver {

// The cores of a kernel. Copies and fills of a new stream go to the queue for vector cores.
enum class LaunchCores : std::uint8_t {
  kVector,
  kCube,
  kMixed,  // each block on a whole cluster: a cube core and its vector cores, or a coupled core
};
inline constexpr std::size_t kLaunchCores = 3;

// The effect of a failed entry on later entries.
enum class StreamErrorMode : std::uint8_t {
  kContinue,  // continue on error: they run
  kStop,      // they are dropped; synchronize() makes the stream usable again
};

struct ExecutionStreamOptions {
  // By LaunchCores. kMixed uses the clusters of which all cores are in its mask.
  std::array<CoreMask, kLaunchCores> cores{kAllCores, kAllCores, kAllCores};
  unsigned log2_entries = 8;  // of each ring: 8 .. abi::kMaxLog2Ring
  unsigned priority = 7;      // as in QueueOptions
  bool preemptible = true;    // as in QueueOptions
  // Of synchronize() and StreamMark::wait(). kPolling: the queues have no interrupts.
  WaitPolicy wait = WaitPolicy::kAdaptive;
  StreamErrorMode on_error = StreamErrorMode::kContinue;
};

class StreamLane;

// A submission, to test and wait for its end.
class NPU_API StreamMark {
 public:
  StreamMark() = default;
  // Whether query() returns true or an error. True for an empty mark.
  bool is_done() const;
  // Whether the submission has ended without a fault. Also true if its outcome is no longer kept.
  // kDeviceFault: it failed, or an earlier one stopped the queue.
  // kAborted: the stream was closed before its end.
  Result<bool> query() const;
  // Waits for the end, with the stream's policy or `policy`.
  // kTimeout: not at `deadline`.
  // kUnsupported: kInterrupt for a stream without interrupts.
  // Also the errors of query(). After kDeviceFault synchronize() returns details.
  Status wait(Instant deadline, std::optional<WaitPolicy> policy = {}) const;
  // Of the last entry of the submission.
  const QueueTicket& ticket() const { return ticket_; }

 private:
  friend class ExecutionStream;
  StreamMark(std::shared_ptr<StreamLane> lane, const QueueTicket& ticket)
      : lane_(std::move(lane)), ticket_(ticket) {}

  std::shared_ptr<StreamLane> lane_;
  QueueTicket ticket_;
};

class StreamSignal;

// A point in a stream's order that other streams can wait for, independent of later records.
class NPU_API StreamRecord {
 public:
  const StreamMark& mark() const { return mark_; }

 private:
  friend class ExecutionStream;
  StreamMark mark_;
  std::shared_ptr<StreamSignal> signal_;
  std::uint64_t value_ = 0;
};

// The first fault since the last synchronize() or query().
struct LaunchFault {
  LaunchCores cores = LaunchCores::kVector;
  std::optional<QueueFault> fault;  // record of the card; none: it wrote none
  std::string text;                 // one line of text
};

// Arguments that lie on the card already.
struct PresentArguments {
  DeviceAddress address;    // a multiple of 64
  std::uint32_t bytes = 0;  // 0: none
};

struct KernelLaunch {
  std::shared_ptr<const KernelModule> module;
  LaunchCores cores = LaunchCores::kVector;
  std::uint32_t blocks = 1;  // not 0
  std::uint32_t bytes = 0;   // of arguments: 0 .. abi::kMaxArgumentBytes
  std::uint32_t most_cores =
      0;                     // only the first so many cores of the stream's, or clusters; 0: all
  Picoseconds timeout = {};  // of each block: longer is kTaskTimeout; at most 4294 s; 0: none
  // The kernel reads them there when it runs. `bytes` is 0 then.
  PresentArguments present = {};
  // Writes the arguments, which the kernel sees at `device`. launch() returns its error. Unused if
  // `bytes` is 0.
  std::function<Status(ByteSpan host, DeviceAddress device)> write;
};

class NPU_API ExecutionStream {
 public:
  // `process` and `arguments` outlive it. All streams of a process share one ArgumentPool.
  // kInvalidArgument: options out of range.
  // Also the errors of ProcessContext::create_queue().
  static Result<std::unique_ptr<ExecutionStream>> open(ProcessContext& process,
                                                       ArgumentPool& arguments,
                                                       const ExecutionStreamOptions& options = {});
  // Calls close() with the present time.
  ~ExecutionStream();
  ExecutionStream(const ExecutionStream&) = delete;
  ExecutionStream& operator=(const ExecutionStream&) = delete;

  // Creates the queue for these cores now, not at the first launch.
  // kAborted: the stream is closed.
  // Also the errors of ProcessContext::create_queue().
  Status prepare(LaunchCores cores);

  // A ring has at least 256 places. The stream may add a wait and a record to a submission.
  static constexpr std::size_t kMostEntries = 254;
  // Submits entries to the queue of the previous work. Waits for room in the ring. The stream holds
  // `keep` at least until the entries have ended.
  // kInvalidArgument: no entry, or more than kMostEntries.
  // kAborted: the stream is closed.
  // kQueueFull: no room within a minute of the platform's time.
  // Also the errors of TimeSliceClient::submit() and ProcessContext::create_queue().
  Result<StreamMark> submit(const abi::QueueEntry* entries, std::size_t count,
                            std::shared_ptr<const void> keep = {});
  // Launches a kernel. Waits also for room for its arguments.
  // kInvalidArgument: no module, 0 blocks, too many bytes, or arguments both ways or misaligned.
  // Also the errors of submit().
  Result<StreamMark> launch(const KernelLaunch& launch);
  // Records a point. The card writes its time in ns to `at`: 8 bytes of host memory of the process,
  // aligned to 8. Errors as submit().
  Result<StreamRecord> record(platform::BusAddress at, std::shared_ptr<const void> keep = {});
  // Lets later submissions wait for the record, which comes from record() of a stream of the same
  // process. `timeout`: as wait_event() takes it.
  // kInvalidArgument: an empty record.
  // Also the errors of submit().
  Status wait_for(const StreamRecord& record, Picoseconds timeout = {});

  // Captures work for a graph (stream_graph.hpp). Until end_capture(), submit() and launch() add to
  // it, return empty marks, and nothing of it runs. record() and wait_for() are refused. Other
  // members do what they always do.
  // kInvalidArgument: the stream captures already, another one captures the graph, or it is another
  // process's.
  // kAborted: the stream is closed.
  Status begin_capture(StreamGraph& graph);
  // The same, but launch() replaces launch `first` of the graph, then the next one. Waits until the
  // last run has ended. submit() is refused.
  // kInvalidArgument: as for begin_capture().
  // kOutOfRange: the graph has no such launch. launch() returns this behind the last one.
  // kAborted: the stream is closed.
  Status begin_update(StreamGraph& graph, std::size_t first);
  // kInvalidArgument: the stream does not capture.
  Status end_capture();
  // Replaces the arguments of one launch in the order of this stream: a copy puts them on the card
  // behind its earlier work, also while a run is in flight. The launch may differ in more than its
  // arguments if no run is in flight. An empty mark: it has no arguments.
  // kInvalidArgument: as for begin_capture().
  // kOutOfRange: the graph has no such launch.
  // kBusy: a run is in flight, and the launch differs in more, or the run copies arguments.
  // Also the errors of launch().
  Result<StreamMark> update(StreamGraph& graph, std::size_t number, const KernelLaunch& launch);
  // Copies the arguments that have changed now, and not with the next run. An empty mark: none.
  // kInvalidArgument: as for begin_capture().
  // Also the errors of submit().
  Result<StreamMark> upload(StreamGraph& graph);
  // Submits all of the graph's work, with one doorbell for each kind of cores and ring of entries.
  // `entries`: the tickets of what was captured, in its order; may be null.
  // kInvalidArgument: an empty graph, one that is being captured, or another process's.
  // Also the errors of submit(). After kQueueFull the stream's work is aborted.
  Result<StreamMark> run(StreamGraph& graph, std::vector<QueueTicket>* entries = nullptr);

  // Waits until all submissions have ended. Returns the first fault; nullopt: none.
  // kTimeout: not at `deadline`.
  // kAborted: the stream is closed, or the card was reset.
  // kDeviceLost, kIo: the card does not answer.
  Result<std::optional<LaunchFault>> synchronize(Instant deadline);
  // The same, with a fault as kDeviceFault and its text.
  Status wait(Instant deadline);
  struct State {
    bool done = false;
    std::optional<LaunchFault> fault;
  };
  // The same without waiting.
  Result<State> query();
  // The last submission, without one that still waits for room. Does not wait.
  StreamMark last() const;

  // Waits until all submissions have ended, and aborts the rest at `deadline`. Streams that wait
  // for its records continue.
  void close(Instant deadline);
  // For later submissions.
  void set_error_mode(StreamErrorMode mode);
  // Sets the cores of kernels that have not begun.
  // kAborted: the stream is closed.
  // Also the errors of ProcessContext::update().
  Status set_cores(LaunchCores kind, const CoreMask& cores);

  struct Impl;  // the driver's own

 private:
  explicit ExecutionStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
