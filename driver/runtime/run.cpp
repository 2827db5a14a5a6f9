// SPDX-License-Identifier: Apache-2.0
// One run of a task graph: image to the card, scheduler and executor launched beside each other,
// the end of both, and what it means.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "driver/runtime/context_impl.hpp"
#include "driver/runtime/run_layout.hpp"

namespace npu::driver {
namespace {

// After the scheduler's end: for the executors to leave their cores.
constexpr Picoseconds kLeavingTime = 1_ms;
constexpr Picoseconds kCopyPatience = 10_s;
constexpr std::uint32_t kNobody = 0xFFFF'FFFF;

std::string_view status_name(abi::RunStatus status) {
  switch (status) {
    case abi::RunStatus::kOk:
      return "done";
    case abi::RunStatus::kRunning:
      return "the scheduler never ended";
    case abi::RunStatus::kBadHeader:
      return "malformed run";
    case abi::RunStatus::kNotCoresident:
      return "more blocks together than cores";
    case abi::RunStatus::kTimeout:
      return "no progress";
    case abi::RunStatus::kReadyOverflow:
      return "ready queue overflow";
    case abi::RunStatus::kKernelFailed:
      return "kernel failed";
    case abi::RunStatus::kCoreException:
      return "core exception";
    case abi::RunStatus::kCoreMissing:
      return "core missing";
  }
  return "unknown status";
}

std::string_view reason_name(abi::StallReason reason) {
  switch (reason) {
    case abi::StallReason::kNone:
      return "";
    case abi::StallReason::kRunning:
      return ": a task does not end";
    case abi::StallReason::kReady:
      return ": a task is ready and no core takes it";
    case abi::StallReason::kWaiting:
      return ": a task waits for others that never end";
    case abi::StallReason::kOrchestrator:
      return ": the graph is not wired yet, and all that is wired waits";
    case abi::StallReason::kOther:
      return ": nothing is left that could go on";
  }
  return "";
}

}  // namespace

std::string describe(const abi::RunResult& result) {
  const auto status = static_cast<abi::RunStatus>(result.status);
  std::string text(status_name(status));
  if (status == abi::RunStatus::kTimeout) {
    text += reason_name(static_cast<abi::StallReason>(result.reason));
  }
  if (result.task != kNobody) text += fmt::format(", task {}", result.task);
  if (result.worker != kNobody) text += fmt::format(", worker {}", result.worker);
  if (result.physical_core != kNobody) text += fmt::format(", core {}", result.physical_core);
  if (result.waits_for != kNobody) text += fmt::format(", waits for task {}", result.waits_for);
  if (status == abi::RunStatus::kKernelFailed) text += fmt::format(", returned {}", result.detail);
  if (status == abi::RunStatus::kCoreException) {
    text += fmt::format(", {}", to_string(static_cast<abi::FaultCode>(result.detail)));
  }
  if (status == abi::RunStatus::kTimeout) {
    text += fmt::format(" ({} done, {} running, {} ready, {} waiting)", result.completed,
                        result.running, result.ready, result.waiting);
  }
  return text;
}

// As many cores as blocks of a task can be on at the same time.
unsigned DeviceContext::Impl::cores_for(TaskShape shape, unsigned block_dim) const {
  return shape == TaskShape::kAiv && vector_cores != 0 ? block_dim * vector_cores : block_dim;
}

Status DeviceContext::Impl::check(const TaskGraph& graph, const RunOptions& options) const {
  if (auto ok = need_device(); !ok) return ok;
  const auto invalid = [](std::string text) {
    return fail(ErrorCode::kInvalidArgument, std::move(text));
  };
  if (scheduler.address == DeviceAddress{} || executor.address == DeviceAddress{}) {
    return invalid("no firmware: set_firmware() comes first");
  }
  if (options.block_dim > clusters) {
    return invalid(fmt::format("block_dim {}: the card has {} clusters of cores", options.block_dim,
                               clusters));
  }
  const unsigned threads = std::min(aicpus, abi::kMaxSchedulerThreads);
  if (options.aicpu_threads == 0 || options.aicpu_threads > threads) {
    return invalid(
        fmt::format("aicpu_thread_num {}: 1 .. {} are possible", options.aicpu_threads, threads));
  }
  if (options.watchdog < 1_ns) return invalid("a watchdog of less than 1 ns");
  const unsigned block_dim = options.block_dim == 0 ? clusters : options.block_dim;
  if (workers(block_dim) > abi::kMaxWorkers) {
    return invalid(
        fmt::format("{} cores, a run has at most {}", workers(block_dim), abi::kMaxWorkers));
  }
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    const auto& task = graph.task({i});
    const auto shape = static_cast<TaskShape>(task.descriptor.shape);
    if (shape == TaskShape::kNone) continue;
    const unsigned cores = cores_for(shape, block_dim);
    if ((task.descriptor.flags & abi::kTaskTogether) != 0 && task.descriptor.blocks > cores) {
      return invalid(fmt::format("task {}: {} blocks together, there are cores for {}", i,
                                 task.descriptor.blocks, cores));
    }
    if (kernels.count(task.kernel.value) == 0) {
      return invalid(fmt::format("task {}: kernel {} is not registered", i, task.kernel.value));
    }
  }
  return {};
}

// The queue of the executors may use these clusters, and no other.
Status DeviceContext::Impl::select_cores(unsigned block_dim) {
  if (selected == block_dim) return {};
  CoreMask mask = first_cores(block_dim);
  for (unsigned i = 0; i < block_dim * vector_cores; ++i) {
    const unsigned core = clusters + i;
    mask[core / 64] |= std::uint64_t{1} << core % 64;
  }
  QueueChange change;
  change.core_mask = mask;
  if (auto ok = process->update(executors->id(), change); !ok) return ok;
  selected = block_dim;
  return {};
}

Status DeviceContext::Impl::prepare(const TaskGraph& graph, const RunLayout& layout,
                                    const RunOptions& options) {
  if (layout.size > area_size) {
    if (area != DeviceAddress{}) {
      if (auto ok = process->space().free(area); !ok) return ok;
      area = {};
      area_size = 0;
    }
    auto memory = process->space().allocate(layout.size);
    if (!memory) return forward_error(memory);
    area = memory->address;
    area_size = memory->reserved;
  }
  const Bytes back =
      sizeof(abi::RunResult) + layout.record_count * sizeof(abi::TaskRecord) + layout.pmu_bytes;
  const Bytes needed = std::max(layout.uploaded, back);
  if (upload_staging == nullptr || upload_staging->size() < needed) {
    upload_staging.reset();
    auto memory = process->allocate_host(needed);
    if (!memory) return forward_error(memory);
    upload_staging = std::move(*memory);
  }
  std::map<std::uint32_t, std::uint64_t> addresses;
  for (const auto& [id, image] : kernels) addresses[id] = image.address.value;
  write_run(graph, layout, {area.value, workers(options.block_dim), options.block_dim}, options,
            addresses, upload_staging->cpu());
  const abi::QueueEntry work[] = {
      entries::copy_to_device(upload_staging->bus(), area, layout.uploaded),
      entries::fill(area + layout.uploaded, layout.size - layout.uploaded, 0)};
  return finish(copies->submit(work, 2, now() + kCopyPatience));
}

Status DeviceContext::Impl::launch(RunReport& report, const RunOptions& options) {
  const auto deadline = now() + options.patience;
  const auto card = device->info().device_index;
  auto cores =
      executors->submit(entries::launch_image(abi::QueueOpcode::kLaunchAiCore, executor.address,
                                              report.workers, area, sizeof(abi::RunHeader)),
                        deadline);
  if (!cores) return forward_error(cores);
  report.executor_cause = platform::queue_cause(card, cores->queue.value, cores->index);
  auto threads =
      schedulers->submit(entries::launch_image(abi::QueueOpcode::kLaunchAicpu, scheduler.address,
                                               options.aicpu_threads, area, sizeof(abi::RunHeader)),
                         deadline);
  if (!threads) return forward_error(threads);
  report.scheduler_cause = platform::queue_cause(card, threads->queue.value, threads->index);
  report.launched = now();
  if (auto ok = schedulers->wait(*threads, options.wait, deadline); !ok) return ok;
  return executors->wait(*cores, options.wait, std::min(deadline, now() + kLeavingTime));
}

Status DeviceContext::Impl::read_back(const RunLayout& layout, RunReport& report) {
  const ByteSpan host = upload_staging->cpu();
  std::vector<abi::QueueEntry> work = {
      entries::copy_to_host(area + layout.result, upload_staging->bus(), sizeof(abi::RunResult))};
  const Bytes records_at = sizeof(abi::RunResult);
  const Bytes record_bytes = layout.record_count * sizeof(abi::TaskRecord);
  if (record_bytes != 0) {
    work.push_back(entries::copy_to_host(area + layout.records, upload_staging->bus() + records_at,
                                         record_bytes));
  }
  if (layout.pmu_bytes != 0) {
    work.push_back(entries::copy_to_host(
        area + layout.pmu, upload_staging->bus() + records_at + record_bytes, layout.pmu_bytes));
  }
  auto ticket = copies->submit(work.data(), work.size(), now() + kCopyPatience);
  if (auto ok = finish(ticket); !ok) return ok;
  std::memcpy(&report.result, host.data, sizeof report.result);
  report.records.resize(layout.record_count);
  if (record_bytes != 0) std::memcpy(report.records.data(), host.data + records_at, record_bytes);
  report.pmu.resize(layout.pmu_bytes / sizeof(abi::PmuRecord));
  if (layout.pmu_bytes != 0) {
    std::memcpy(report.pmu.data(), host.data + records_at + record_bytes, layout.pmu_bytes);
  }
  return {};
}

// What the scheduler found goes before what its end looked like from outside.
Status DeviceContext::Impl::verdict(const RunReport& report, const Status& ended) const {
  const auto status = static_cast<abi::RunStatus>(report.result.status);
  if (status == abi::RunStatus::kOk) return ended;
  if (status == abi::RunStatus::kRunning && !ended) return ended;
  const auto code =
      status == abi::RunStatus::kTimeout ? ErrorCode::kTimeout : ErrorCode::kDeviceFault;
  return fail(code, "run: " + describe(report.result));
}

Result<RunReport> DeviceContext::run(const TaskGraph& graph, const RunOptions& wanted) {
  auto& impl = *impl_;
  RunReport report;
  report.called = impl.platform.clock().now();
  RunOptions options = wanted;
  if (auto ok = impl.check(graph, options); !ok) return forward_error(ok);
  impl.result = {};
  // Queues that a run before could not get back.
  if (auto ok = impl.open_launch_queues(); !ok) return forward_error(ok);
  if (options.block_dim == 0) options.block_dim = impl.clusters;
  report.workers = impl.workers(options.block_dim);
  const RunLayout layout(graph, report.workers, options);
  if (auto ok = impl.select_cores(options.block_dim); !ok) return forward_error(ok);
  if (auto ok = impl.prepare(graph, layout, options); !ok) return forward_error(ok);
  report.uploaded = impl.now();
  const Status ended = impl.launch(report, options);
  report.ended = impl.now();
  // Cores that hang, and queues that have stopped, are given up and replaced.
  if (!ended) {
    static_cast<void>(impl.process->take_faults());
    static_cast<void>(impl.close_launch_queues());
    static_cast<void>(impl.open_launch_queues());  // or the next run tries again
  }
  if (auto ok = impl.read_back(layout, report); !ok) return forward_error(ended ? ok : ended);
  impl.result = report.result;
  if (auto ok = impl.verdict(report, ended); !ok) return forward_error(ok);
  report.returned = impl.now();
  return report;
}

}  // namespace npu::driver
