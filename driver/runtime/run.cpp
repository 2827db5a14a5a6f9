// SPDX-License-Identifier: Apache-2.0
// One run of a task graph: image to the card, scheduler and executor launched beside each other,
// the end of both.
#include <fmt/format.h>

#include <algorithm>

#include "driver/runtime/context_impl.hpp"
#include "driver/runtime/run_layout.hpp"
#include "driver/support/call_trace.hpp"

namespace npu::driver {
namespace {

// After the scheduler's end: for the executors to leave their cores.
constexpr Picoseconds kLeavingTime = 1_ms;

}  // namespace

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
  const Bytes back = sizeof(abi::RunResult) + layout.record_count * sizeof(abi::TaskRecord) +
                     layout.pmu_bytes + layout.dump_count * sizeof(abi::TensorDump);
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
      entries::fill(area + layout.uploaded, layout.zeroed - layout.uploaded, 0)};
  return run_copies(work, 2);
}

// Which task is which on the cores: a task's arguments lie where no other's do.
void DeviceContext::Impl::trace_tasks(const TaskGraph& graph, const RunLayout& layout) {
  auto& tracer = platform.tracer();
  const std::uint64_t run = runs++;
  if (!tracer.enabled()) return;
  platform::TraceEvent event;
  event.begin = event.end = now();
  event.track = tracer.track(fmt::format("driver{}.tasks", card_index()));
  std::uint64_t arguments = area.value + layout.arguments;
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    event.cause = platform::task_cause(card_index(), run, i);
    event.activity = platform::Activity::kTask;
    event.detail = arguments;
    tracer.emit(event);
    event.activity = platform::Activity::kTaskEdge;
    for (const std::uint32_t producer : graph.task({i}).producers) {
      event.detail = producer;
      tracer.emit(event);
    }
    arguments += argument_bytes(graph.task({i}));
  }
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

Result<RunReport> DeviceContext::run(const TaskGraph& graph, const RunOptions& wanted) {
  auto& impl = *impl_;
  const CallTrace trace(impl.platform, impl.card_index(), platform::DriverCall::kRun, impl.runs, 0);
  RunReport report;
  report.called = impl.platform.clock().now();
  RunOptions options = wanted;
  impl.last = {};
  impl.core_fault = {};
  if (auto ok = impl.check(graph, options); !ok) return forward_error(ok);
  // Queues that a run before could not get back.
  if (auto ok = impl.open_launch_queues(); !ok) return forward_error(ok);
  if (options.block_dim == 0) options.block_dim = impl.clusters;
  report.workers = impl.workers(options.block_dim);
  const RunLayout layout(graph, report.workers, options);
  if (auto ok = impl.select_cores(options.block_dim); !ok) return forward_error(ok);
  if (auto ok = impl.prepare(graph, layout, options); !ok) return forward_error(ok);
  impl.trace_tasks(graph, layout);
  report.uploaded = impl.now();
  const Status ended = impl.launch(report, options);
  report.ended = impl.now();
  // Cores that hang, and queues that have stopped, are given up and replaced.
  if (!ended) {
    impl.note_faults(impl.process->take_faults());
    static_cast<void>(impl.close_launch_queues());
    static_cast<void>(impl.open_launch_queues());  // or the next run tries again
  }
  if (auto ok = impl.read_back(graph, layout, report); !ok) {
    return forward_error(ended ? ok : ended);
  }
  report.returned = impl.now();
  impl.last = report;
  if (auto ok = impl.verdict(graph, report, options, ended); !ok) return forward_error(ok);
  return report;
}

}  // namespace npu::driver
