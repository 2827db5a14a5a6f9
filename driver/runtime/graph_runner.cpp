// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/graph_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "driver/runtime/run_check.hpp"
#include "driver/runtime/run_layout.hpp"
#include "driver/runtime/run_verdict.hpp"
#include "driver/support/observation.hpp"

namespace npu::driver {
namespace {

// After the scheduler's end: for the executors to leave their cores.
constexpr Picoseconds kLeavingTime = 1_ms;

}  // namespace

// Scheduler and executors run beside each other, so they have a stream each.
Status GraphRunner::open() {
  for (auto* which : {&schedulers_, &executors_}) {
    if (*which != nullptr) continue;
    ExecutionStreamOptions options;
    options.preemptible = false;
    options.on_error = StreamErrorMode::kStop;
    auto opened = ExecutionStream::open(process_, arguments_, options);
    if (!opened) return forward_error(opened);
    *which = std::move(*opened);
    selected_ = 0;
  }
  return {};
}

// The executors may use these clusters, and no other.
Status GraphRunner::select_cores(unsigned block_dim) {
  if (selected_ == block_dim) return {};
  CoreMask mask = first_cores(block_dim);
  for (unsigned i = 0; i < block_dim * cores_.vector_cores; ++i) {
    const unsigned core = cores_.clusters + i;
    mask[core / 64] |= std::uint64_t{1} << core % 64;
  }
  if (auto ok = executors_->set_cores(LaunchCores::kVector, mask); !ok) return ok;
  selected_ = block_dim;
  return {};
}

Status GraphRunner::prepare(const TaskGraph& graph, const RunLayout& layout,
                            const RunOptions& options) {
  if (layout.size > area_size_) {
    if (area_ != DeviceAddress{}) {
      if (auto ok = process_.space().free(area_); !ok) return ok;
      area_ = {};
      area_size_ = 0;
    }
    auto memory = process_.space().allocate(layout.size);
    if (!memory) return forward_error(memory);
    area_ = memory->address;
    area_size_ = memory->reserved;
  }
  const Bytes back = sizeof(abi::RunResult) + layout.record_count * sizeof(abi::TaskRecord) +
                     layout.pmu_bytes + layout.dump_count * sizeof(abi::TensorDump);
  const Bytes needed = std::max(layout.uploaded, back);
  if (staging_ == nullptr || staging_->size() < needed) {
    staging_.reset();
    auto memory = process_.allocate_host(needed);
    if (!memory) return forward_error(memory);
    staging_ = std::move(*memory);
  }
  std::map<std::uint32_t, std::uint64_t> addresses;
  for (const auto& [id, image] : programs_.kernels) addresses[id] = image.address.value;
  write_run(graph, layout, {area_.value, cores_.workers(options.block_dim), options.block_dim},
            options, addresses, staging_->cpu());
  const abi::QueueEntry work[] = {
      entries::copy_to_device(staging_->bus(), area_, layout.uploaded),
      entries::fill(area_ + layout.uploaded, layout.zeroed - layout.uploaded, 0)};
  return copies_.run(work, 2);
}

// Which task is which on the cores: a task's arguments lie where no other's do.
void GraphRunner::trace_tasks(const TaskGraph& graph, const RunLayout& layout) {
  const std::uint64_t run = runs_++;
  observe(platform_, [&](platform::Tracer& tracer, Instant now) {
    platform::TraceEvent event;
    event.begin = event.end = now;
    event.track = tracer.track(fmt::format("driver{}.tasks", device_.info().device_index));
    std::uint64_t arguments = area_.value + layout.arguments;
    for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
      event.cause = platform::task_cause(device_.info().device_index, run, i);
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
  });
}

Status GraphRunner::launch(RunReport& report, const RunOptions& options) {
  const auto deadline = now() + options.timeout;
  const auto card = device_.info().device_index;
  const auto launch_on = [&](ExecutionStream& stream, abi::QueueOpcode opcode, DeviceAddress image,
                             std::uint32_t blocks) {
    const auto entry = entries::launch_image(opcode, image, blocks, area_, sizeof(abi::RunHeader));
    return stream.submit(&entry, 1);
  };
  const auto cause_of = [card](const StreamMark& launched) {
    return platform::queue_cause(card, launched.ticket().queue.value, launched.ticket().index);
  };
  const auto cores = launch_on(*executors_, abi::QueueOpcode::kLaunchAiCore,
                               programs_.executor.address, report.workers);
  if (!cores) return forward_error(cores);
  report.executor_cause = cause_of(*cores);
  const auto threads = launch_on(*schedulers_, abi::QueueOpcode::kLaunchAicpu,
                                 programs_.scheduler.address, options.aicpu_threads);
  if (!threads) return forward_error(threads);
  report.scheduler_cause = cause_of(*threads);
  report.launched = now();
  if (auto ok = threads->wait(deadline, options.wait); !ok) return ok;
  return cores->wait(std::min(deadline, now() + kLeavingTime), options.wait);
}

// Streams in which something hangs, or that have stopped, are given up and replaced.
void GraphRunner::give_up() {
  if (executors_ != nullptr) {
    const auto fault = executors_->synchronize(now());
    if (fault && *fault && (*fault)->fault) core_fault_ = *(*fault)->fault;
  }
  schedulers_.reset();
  executors_.reset();
  static_cast<void>(open());  // or the next run tries again
}

Status GraphRunner::run(const TaskGraph& graph, const RunOptions& wanted, RunReport& report,
                        RunReport& last) {
  RunOptions options = wanted;
  core_fault_ = {};
  const RunCheck check(cores_, programs_, process_.space());
  if (auto ok = check.check(graph, options); !ok) return ok;
  // Streams that a run before could not get back.
  if (auto ok = open(); !ok) return ok;
  if (options.block_dim == 0) options.block_dim = cores_.clusters;
  report.workers = cores_.workers(options.block_dim);
  const RunLayout layout(graph, report.workers, options);
  if (auto ok = select_cores(options.block_dim); !ok) return ok;
  if (auto ok = prepare(graph, layout, options); !ok) return ok;
  trace_tasks(graph, layout);
  report.uploaded = now();
  const Status ended = launch(report, options);
  report.ended = now();
  if (!ended) give_up();
  if (auto ok = read_back(graph, layout, report); !ok) return ended ? ok : ended;
  report.returned = now();
  last = report;
  return run_verdict(graph, report, options, ended, programs_, core_fault_);
}

Status GraphRunner::read_back(const TaskGraph& graph, const RunLayout& layout, RunReport& report) {
  report.records.resize(layout.record_count);
  report.pmu.resize(layout.pmu_bytes / sizeof(abi::PmuRecord));
  std::vector<abi::TensorDump> dumps(layout.dump_count);
  struct Part {
    Bytes at;
    void* to;
    Bytes size;
  };
  const Part parts[] = {
      {layout.result, &report.result, sizeof report.result},
      {layout.records, report.records.data(), layout.record_count * sizeof(abi::TaskRecord)},
      {layout.pmu, report.pmu.data(), layout.pmu_bytes},
      {layout.dumps, dumps.data(), dumps.size() * sizeof(abi::TensorDump)}};
  std::vector<abi::QueueEntry> work;
  Bytes place = 0;
  for (const auto& part : parts) {
    if (part.size == 0) continue;
    work.push_back(entries::copy_to_host(area_ + part.at, staging_->bus() + place, part.size));
    place += part.size;
  }
  if (auto ok = copies_.run(work.data(), work.size()); !ok) return ok;
  const std::byte* from = staging_->cpu().data;
  for (const auto& part : parts) {
    platform_.copy({static_cast<std::byte*>(part.to), part.size}, {from, part.size});
    from += part.size;
  }
  return read_tensors(graph, layout, dumps, report);
}

Status GraphRunner::read_tensors(const TaskGraph& graph, const RunLayout& layout,
                                 const std::vector<abi::TensorDump>& dumps, RunReport& report) {
  if (dumps.empty()) return {};
  std::vector<std::byte> bytes(layout.size - layout.copies);
  if (auto ok = copies_.read(area_ + layout.copies, {bytes.data(), bytes.size()}); !ok) return ok;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    for (unsigned left = dumps_of(graph.task({i})); left > 0; --left) {
      const auto& dump = dumps[next++];
      TensorCopy copy;
      copy.task = {i};
      copy.argument = dump.argument;
      copy.stage = static_cast<abi::DumpStage>(dump.stage);
      copy.tensor = {dump.tensor};
      copy.taken = dump.taken != 0;
      copy.ticks = dump.taken;
      if (copy.taken) {
        const auto* const from = bytes.data() + (dump.copy - area_.value - layout.copies);
        copy.bytes.assign(from, from + dump.bytes);
      }
      report.tensors.push_back(std::move(copy));
    }
  }
  return {};
}

}  // namespace npu::driver
