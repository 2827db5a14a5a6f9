// SPDX-License-Identifier: Apache-2.0
// A task graph from a file on the card's AI Cores: uploaded, run by the scheduler firmware, checked
// (workloads/graphs/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "npu/base/shortened.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/graph_input.hpp"
#include "workloads/programs/support/runtime_session.hpp"
#include "workloads/programs/support/scheduler_work.hpp"
#include "workloads/programs/support/tensor_dump.hpp"
#include "workloads/task_graph/core_usage.hpp"
#include "workloads/task_graph/graph_check.hpp"

namespace npu::workloads {
namespace programs::graph {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  const BuiltGraph& graph;
  const driver::RunReport& run;

  std::uint64_t tasks() const { return graph.graph.tasks(); }
  std::uint64_t edges() const { return graph.graph.edges(); }
  std::uint64_t longest_path() const { return graph.longest_path; }
  std::uint64_t blocks() const { return run.result.dispatched_blocks; }
  MeasuredSpan duration() const { return {run.launched, run.ended, run.scheduler_cause}; }
  MeasuredSpan upload() const { return {run.called, run.uploaded}; }
  MeasuredSpan host_to_host() const { return {run.called, run.returned}; }
  Number rate() const {
    const auto ns = static_cast<std::uint64_t>((run.ended - run.launched).count() / 1000);
    return Number::quotient(tasks() * 1'000'000'000, ns, 0);
  }
};

constexpr Figure<Outcome> kFigures[] = {{"tasks", "", from<&Outcome::tasks>},
                                        {"edges", "", from<&Outcome::edges>},
                                        {"longest_path", "", from<&Outcome::longest_path>},
                                        {"blocks", "", from<&Outcome::blocks>},
                                        {"duration_us", "us", from<&Outcome::duration>},
                                        {"upload_us", "us", from<&Outcome::upload>},
                                        {"host_to_host_us", "us", from<&Outcome::host_to_host>},
                                        {"tasks_per_second", "1/s", from<&Outcome::rate>}};

constexpr Figure<CheckOutcome> kChecked[] = {
    {"elements_compared", "", from<&CheckOutcome::elements>},
    {"max_relative_error",
     "",
     [](const CheckOutcome& of) -> FigureValue {
       return Number::scaled(std::llround(of.largest_error * 1e9), 9);
     },
     {},
     kNoMore}};

// Cores of one kind.
struct PoolUse {
  CorePool pool;
  std::uint64_t time;  // of the run, in ticks

  Number busy() const { return Number::percent(pool.busy, time * pool.cores); }
  Number bound() const { return Number::percent(pool.dispatch_bound, time); }
  Number longest_bound() const { return Number::percent(pool.longest_phase, time); }
};

constexpr Figure<PoolUse> kOfPool[] = {  // behind the kind
    {"blocks", "", from<&PoolUse::pool, &CorePool::blocks>},
    {"busy_percent", "%", from<&PoolUse::busy>},
    {"dispatch_bound_percent", "%", from<&PoolUse::bound>, {}, kHardlyMore},
    {"dispatch_bound_phases", "", from<&PoolUse::pool, &CorePool::phases>},
    {"longest_dispatch_bound_percent", "%", from<&PoolUse::longest_bound>, {}, kHardlyMore}};

class GraphRun {
 public:
  GraphRun(Context& context, const GraphSpec& spec, std::vector<Tensor> tensors)
      : context_(context), spec_(spec), tensors_(std::move(tensors)) {
    prefix_ = "graph." + fs::path(spec.file).stem().string() + ".";
  }

  Status run() {
    std::vector<std::string> kernels;
    for (const auto& kernel : kernel_table()) kernels.emplace_back(kernel.name);
    auto session = RuntimeSession::open(context_, kernels);
    if (!session) return forward_error(session);
    session_ = std::move(*session);
    if (auto ok = upload(); !ok) return ok;
    auto graph = checked(build_graph(spec_, tensors_));
    if (!graph) return forward_error(graph);
    auto options = run_options(context_.parameters);
    options.profiling = context_.parameters.flag("profiling");
    options.watchdog =
        Picoseconds(static_cast<std::int64_t>(context_.parameters.integer("watchdog")) * 1'000'000);
    options.timeout += 4 * options.watchdog;  // the scheduler's diagnosis comes first
    const auto& dump = context_.parameters.choice("dump_tensors");
    options.dump_tensors = !dump.empty();
    if (auto ok = require_host_memory("dump_tensors=" + shortened(dump),
                                      dump.empty() ? 0 : dump_memory(graph->graph));
        !ok) {
      return ok;
    }
    SchedulerWork work(context_);
    work.begin();
    auto report = session_->device().run(graph->graph, options);
    // Of a run that failed, too: what its tasks were given.
    const Status dumped = dump.empty() ? Status() : write_dump(dump, *graph);
    if (!report) return name_tasks(report.error(), session_->device().last_result(), *graph);
    if (!dumped) return dumped;
    report_counts(*graph, *report);
    work.end(graph->graph.tasks());
    work.report();
    if (options.profiling) report_usage(*report, options.block_dim);
    if (auto ok = check(); !ok) return ok;
    return session_->close();
  }

 private:
  // The tensors in device memory; while one is made or compared, it and up to two that it is
  // computed from as doubles, and its bytes.
  Bytes host_memory() const {
    Bytes all = 0, largest = 0;
    for (const auto& tensor : tensors_) {
      all += tensor.bytes();
      largest = std::max<Bytes>(largest, 3 * sizeof(double) * tensor.elements() + tensor.bytes());
    }
    return all + largest;
  }

  // What is read is copied before a task and what is written after it: in device memory, as it is
  // read back, and twice in reports.
  static Bytes dump_memory(const driver::TaskGraph& graph) {
    Bytes all = 0;
    for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
      for (const auto& tensor : graph.task({i}).tensors) {
        const bool once = tensor.kind == driver::ArgumentKind::kInput ||
                          tensor.kind == driver::ArgumentKind::kOutput;
        all += (once ? 1 : 2) * tensor.bytes;
      }
    }
    return 4 * all;
  }

  Status upload() {
    const auto& values = context_.parameters.choice("parameters");
    const auto what = values.empty() ? spec_.file : "parameters=" + shortened(values);
    if (auto ok = require_host_memory(what, host_memory()); !ok) return ok;
    std::uint64_t done = 0;
    for (auto& tensor : tensors_) {
      context_.step("tensors", done++, tensors_.size());
      auto address = session_->allocate(tensor.bytes());
      if (!address) return forward_error(address);
      tensor.address = *address;
      if (!tensor.spec->contents) continue;
      auto contents = checked(evaluate(spec_, tensor, *tensor.spec->contents));
      if (!contents) return forward_error(contents);
      const auto bytes = encode(tensor, *contents);
      auto ok = session_->device().copy_to_device(tensor.address, {bytes.data(), bytes.size()});
      if (!ok) return ok;
    }
    return {};
  }

  Status write_dump(const std::string& path, const BuiltGraph& graph) {
    const auto& copies = session_->device().last_report().tensors;
    if (auto ok = write_tensor_dump(path, copies, graph.names, tensors_); !ok) return ok;
    const auto taken = std::count_if(copies.begin(), copies.end(),
                                     [](const driver::TensorCopy& copy) { return copy.taken; });
    context_.report.add_note(fmt::format("{} copies of tensors in {}", taken, path));
    return {};
  }

  void report_counts(const BuiltGraph& graph, const driver::RunReport& run) {
    const Outcome outcome{graph, run};
    report_figures(context_, prefix_, kFigures, outcome);
    context_.report.add_note(fmt::format("{}: {} tasks, {} edges, longest path {}, in {} us",
                                         spec_.about, graph.graph.tasks(), graph.graph.edges(),
                                         graph.longest_path,
                                         Number::microseconds(run.ended - run.launched).text()));
  }

  void report_usage(const driver::RunReport& run, unsigned block_dim) {
    auto& device = session_->device();
    UsedCores used;
    used.clusters = block_dim == 0 ? device.clusters() : block_dim;
    used.vector_cores = device.vector_cores();
    used.first_vector = device.clusters();
    const std::uint64_t time = run.result.finished - run.result.handshaken;
    for (const auto& pool : core_usage(run.records, used)) {
      const auto bound = Number::percent(pool.dispatch_bound, time);
      report_figures(context_, prefix_ + pool.name + "_", kOfPool, {pool, time});
      if (bound.value() == 0) continue;
      context_.report.add_limit(
          {prefix_ + pool.name, "dispatch", bound,
           fmt::format("dispatch: {} % of the time a core of kind {} was idle while a block for it "
                       "was ready",
                       bound.text(), pool.name)});
    }
  }

  Status check() {
    if (!context_.functional) {
      context_.report.add_note("the cores compute nothing (core.functional): nothing compared");
      return {};
    }
    const auto outcome =
        check_tensors(spec_, tensors_, [&](const Tensor& tensor) -> Result<std::vector<std::byte>> {
          std::vector<std::byte> bytes(tensor.bytes());
          auto ok =
              session_->device().copy_from_device({bytes.data(), bytes.size()}, tensor.address);
          if (!ok) return forward_error(ok);
          return bytes;
        });
    if (!outcome) return forward_error(outcome);
    report_figures(context_, prefix_, kChecked, *outcome);
    return {};
  }

  Context& context_;
  const GraphSpec& spec_;
  std::vector<Tensor> tensors_;
  std::string prefix_;
  std::unique_ptr<RuntimeSession> session_;
};

Status check_graph_and_dump(const ParameterSet& parameters,
                            const std::vector<std::string>& configs) {
  if (auto ok = check_graph(parameters, configs); !ok) return ok;
  const auto& dump = parameters.choice("dump_tensors");
  return dump.empty() ? Status() : check_tensor_dump(dump);
}

}  // namespace
}  // namespace programs::graph

Workload graph() {
  auto parameters = graph_parameters("vector_diamond", "batch=4,blocks=8");
  for (auto& parameter : run_parameters()) parameters.push_back(parameter);
  parameters.push_back({"profiling", ParameterType::kFlag, "", "on",
                        "a record of each block: busy cores, dispatch-bound phases"});
  parameters.push_back({"dump_tensors", ParameterType::kText, "", "",
                        "file for copies of what each task reads and writes, before and after it"});
  parameters.push_back({"watchdog", ParameterType::kInteger, "us", "1000000",
                        "without progress until the scheduler gives up", 1, 1'000'000'000});
  parameters.push_back(card_parameter());
  return {
      "graph",
      "A task graph from a file on the AI Cores: right, how fast, what dispatch costs",
      parameters,
      run_graph<programs::graph::GraphRun>,
      figure_rows(programs::graph::kFigures, programs::graph::kChecked, programs::graph::kOfPool),
      programs::graph::check_graph_and_dump,
      graph_inputs};
}

}  // namespace npu::workloads
