// SPDX-License-Identifier: Apache-2.0
// The chip-level runtime (requirements.md M6): memory and kernels of one process on one card, and
// task graphs run there by the scheduler firmware on its AICPUs and the executor on its AI Cores.
// include/npu/driver/runtime.h is the same for C. One task at a time uses a context.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "npu/abi/task_graph.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/event.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/task_graph.hpp"

namespace npu::driver {

struct RunOptions {
  unsigned block_dim = 0;      // clusters to use; 0: all
  unsigned aicpu_threads = 3;  // scheduler threads, 1 .. abi::kMaxSchedulerThreads
  abi::HandshakeKind handshake = abi::HandshakeKind::kRegister;
  bool single_issue = false;  // a core gets its next task when it has ended the one before
  bool profiling = false;     // a TaskRecord for each block
  unsigned pmu_group = 0;     // of abi/pmu.hpp; 0: off
  // A TensorCopy of each argument with a known size: what a task reads before its dispatch, what it
  // writes after its completion. The scheduler makes the copies, so the run takes longer.
  bool dump_tensors = false;
  // Without the end of a task, at least 1 ns: the scheduler has given up and said why.
  Picoseconds watchdog = 1'000_ms;
  Picoseconds timeout = 10'000_ms;  // of the host, for the whole run
  WaitPolicy wait = WaitPolicy::kPolling;
};

struct TensorCopy {
  TaskId task;
  std::uint32_t argument = 0;  // its place among the task's
  abi::DumpStage stage = abi::DumpStage::kBeforeDispatch;
  DeviceAddress tensor;
  bool taken = false;       // not of tasks that were skipped, or that a failed run did not come to
  std::uint64_t ticks = 0;  // of the system counter, when the copy was complete
  std::vector<std::byte> bytes;  // empty if not taken; arbitrary on a card without arithmetic
};

struct RunReport {
  abi::RunResult result;
  std::vector<abi::TaskRecord> records;  // with RunOptions::profiling, in no particular order
  std::vector<abi::PmuRecord> pmu;       // with RunOptions::pmu_group, by worker
  std::vector<TensorCopy> tensors;       // with RunOptions::dump_tensors, by task and stage
  std::uint32_t workers = 0;
  std::uint64_t scheduler_cause = 0, executor_cause = 0;  // of the launches' trace events
  // The platform's clock: run() called, its image in device memory, launched, ended, returned.
  Instant called, uploaded, launched, ended, returned;
};

class NPU_API DeviceContext {
 public:
  // `platform` outlives it. `addresses`: of the program over all its cards; null: each card has
  // its own.
  static Result<std::unique_ptr<DeviceContext>> create(
      platform::Platform& platform, std::shared_ptr<UnifiedAddresses> addresses = nullptr);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  // Opens the card; everything below needs it. kAlreadyExists: a device is set.
  Status set_device(std::uint32_t index);
  // The same with a function: a card's, or a virtual one (virtual_functions.hpp).
  Status set_function(platform::Bdf bdf);
  // Gives everything back. The context can be set to a device again.
  Status finalize();

  Device& device();
  ProcessContext& process();
  unsigned clusters() const;      // AIC + 2 AIVs each, or coupled cores
  unsigned vector_cores() const;  // per cluster; 0: coupled

  Result<DeviceAddress> allocate(Bytes size);
  Status free(DeviceAddress address);
  // Return when the bytes are there.
  Status copy_to_device(DeviceAddress to, ConstByteSpan from);
  Status copy_from_device(ByteSpan to, DeviceAddress from);

  // The firmware of the next runs: objects of the scheduler (AICPU) and the executor (AI Core).
  Status set_firmware(ConstByteSpan scheduler, ConstByteSpan executor);
  // Uploads a kernel's object under `id`; one that was there is replaced.
  Status register_kernel(KernelId id, ConstByteSpan object);
  Status unregister_kernel(KernelId id);

  // Runs the graph to its end. kInvalidArgument: options or graph, nothing was started;
  // kDeviceFault, kTimeout: the context says which task, where and why, last_report() the same and
  // what was done before. The device stays usable: cores that hang are reset.
  Result<RunReport> run(const TaskGraph& graph, const RunOptions& options = {});
  // Of the last run(), also of one that failed: what its cores and the scheduler had written by
  // then. A record without `ended` is of a block that never ended. Empty if the run was refused, or
  // if the card was lost.
  const RunReport& last_report() const;
  const abi::RunResult& last_result() const { return last_report().result; }

  struct Impl;  // the driver's own

 private:
  explicit DeviceContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "kernel failed, task 5, worker 3, core 3, returned 7" of a result that is not kOk.
NPU_API std::string describe(const abi::RunResult& result);

}  // namespace npu::driver
