// SPDX-License-Identifier: Apache-2.0
// The chip-level runtime (requirements.md M6): memory, kernels and task graphs of one process on
// one card. The scheduler firmware on the AICPUs and the executor on the AI Cores run the graphs.
// runtime.h is the same for C. Only one task at a time may use a context. Without a device, members
// fail with kInvalidArgument, and device() and process() must not be called.
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
  unsigned block_dim = 0;      // clusters to use; 0: all of the card
  unsigned aicpu_threads = 3;  // 1 .. abi::kMaxSchedulerThreads, and no more than the card has
  abi::HandshakeKind handshake = abi::HandshakeKind::kRegister;
  bool single_issue = false;  // a core gets a task only after it has ended the one before
  bool profiling = false;     // records a TaskRecord for each block
  unsigned pmu_group = 0;     // of abi/pmu.hpp; 0: off
  // Copies each argument of known size: inputs before the task's dispatch, outputs after its
  // completion. The scheduler makes these copies, so the run lasts longer.
  bool dump_tensors = false;
  // If no task ends for this time, the scheduler stops the run and reports the reason. At least 1
  // ns.
  Picoseconds watchdog = 1'000_ms;
  Picoseconds timeout = 10'000_ms;  // of the host for the whole run
  WaitPolicy wait = WaitPolicy::kPolling;
};

struct TensorCopy {
  TaskId task;
  std::uint32_t argument = 0;  // index among the task's arguments
  abi::DumpStage stage = abi::DumpStage::kBeforeDispatch;
  DeviceAddress tensor;
  bool taken = false;            // false: the task was skipped, or a failed run did not reach it
  std::uint64_t ticks = 0;       // of the system counter at the end of the copy
  std::vector<std::byte> bytes;  // empty if not taken; undefined on a card without arithmetic
};

struct RunReport {
  abi::RunResult result;
  std::vector<abi::TaskRecord> records;  // with RunOptions::profiling, unordered
  std::vector<abi::PmuRecord> pmu;       // with RunOptions::pmu_group, by worker
  std::vector<TensorCopy> tensors;       // with RunOptions::dump_tensors, by task and stage
  std::uint32_t workers = 0;
  std::uint64_t scheduler_cause = 0, executor_cause = 0;  // causes of the launches' trace events
  // Times of the platform's clock: call of run(), end of the upload, launch, end, return.
  Instant called, uploaded, launched, ended, returned;
};

class NPU_API DeviceContext {
 public:
  // `platform` outlives it. `addresses`: unique on all cards of the program; null: on this card
  // only.
  static Result<std::unique_ptr<DeviceContext>> create(
      platform::Platform& platform, std::shared_ptr<UnifiedAddresses> addresses = nullptr);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  // Opens the card with this DEVICE_INDEX.
  // kAlreadyExists: a device is set.
  // kUnsupported, kBadDevice: the card has no AI Cores, or too many.
  // Also the errors of Device::open_index() and ProcessContext::open().
  Status set_device(std::uint32_t index);
  // The same for a PCI function: of a card, or a virtual one (virtual_functions.hpp).
  Status set_function(platform::Bdf bdf);
  // Frees everything and closes the card. The context can open a card again. Returns the first
  // error.
  Status finalize();

  Device& device();
  ProcessContext& process();
  unsigned clusters() const;      // each an AIC with its AIVs, or a coupled core
  unsigned vector_cores() const;  // in each cluster; 0: coupled cores

  Result<DeviceAddress> allocate(Bytes size);
  Status free(DeviceAddress address);
  // Return when the bytes have arrived. Errors are those of StagedCopies.
  Status copy_to_device(DeviceAddress to, ConstByteSpan from);
  Status copy_from_device(ByteSpan to, DeviceAddress from);

  // Sets the firmware of later runs: ELF objects of the scheduler (AICPU) and the executor (AI
  // Core). After an error the earlier ones remain.
  Status set_firmware(ConstByteSpan scheduler, ConstByteSpan executor);
  // Uploads a kernel's ELF object under `id`, or replaces it.
  // kInvalidArgument: `id` is not below kMaxKernels, or the object is unusable (make_image()).
  Status register_kernel(KernelId id, ConstByteSpan object);
  // kNotFound: no such kernel.
  Status unregister_kernel(KernelId id);

  // Runs the graph to its end. The device remains usable after an error, and hanging cores are
  // reset.
  // kInvalidArgument: options or graph; nothing was started.
  // kDeviceFault, kTimeout: the run failed. The context names the task, place and reason;
  // last_report() has the details.
  Result<RunReport> run(const TaskGraph& graph, const RunOptions& options = {});
  // The results of the last run(), also of a failed one. A record without `ended` belongs to a
  // block that never ended. Empty if the run was refused or the card was lost.
  const RunReport& last_report() const;
  const abi::RunResult& last_result() const { return last_report().result; }

  struct Impl;  // the driver's own

 private:
  explicit DeviceContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// One line of text, such as "kernel failed, task 5, worker 3, core 3, returned 7".
NPU_API std::string describe(const abi::RunResult& result);

}  // namespace npu::driver
