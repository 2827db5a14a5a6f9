// SPDX-License-Identifier: Apache-2.0
// A task graph whose tensors are managed memory, larger than the memory that the card has for them.
#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/graph_input.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/managed_slowdown.hpp"
#include "workloads/programs/support/runtime_session.hpp"
#include "workloads/task_graph/graph_check.hpp"

namespace npu::workloads {
namespace programs::svm_graph {
namespace {

using driver::kPageSize;

constexpr std::uint64_t kLeastPages = 8;  // for cores that work at the same time

struct Outcome {
  Bytes managed, memory;
  std::uint64_t tasks, compared;
};

constexpr Figure<Outcome> kFigures[] = {{"managed_bytes", "B", from<&Outcome::managed>},
                                        {"memory_bytes", "B", from<&Outcome::memory>},
                                        {"tasks", "", from<&Outcome::tasks>},
                                        {"elements_compared", "", from<&Outcome::compared>}};

class ManagedGraph {
 public:
  ManagedGraph(Context& context, const GraphSpec& spec, std::vector<Tensor> tensors)
      : context_(context), spec_(spec), tensors_(std::move(tensors)) {
    for (const auto& tensor : tensors_) pages_ += *checked_align_up(tensor.bytes(), kPageSize);
    pages_ /= kPageSize;
    const auto ratio = context.parameters.integer("ratio");
    memory_ = std::max(pages_ * 100 / ratio, kLeastPages);
  }

  Status run() {
    const auto what = "parameters=" + context_.parameters.choice("parameters");
    // On the card, on the host, and as doubles while they are made and compared.
    if (auto ok = require_host_memory(what, 6 * pages_ * kPageSize); !ok) return ok;
    std::vector<std::string> kernels;
    for (const auto& kernel : kernel_table()) kernels.emplace_back(kernel.name);
    auto session = RuntimeSession::open(context_, kernels);
    if (!session) return forward_error(session);
    session_ = std::move(*session);
    context_.step("with room", 0, 2);
    auto with_room = measure(0);
    if (!with_room) return forward_error(with_room);
    context_.step("without", 1, 2);
    auto without = measure(memory_ * kPageSize);
    if (!without) return forward_error(without);
    auto& out = context_.report;
    SlowdownTable table(
        context_, "graph",
        fmt::format("{} pages of managed tensors, {} pages of memory for them", pages_, memory_));
    table.add("svm_graph", spec_.about, *with_room, *without);
    report_figures(context_, "svm_graph.", kFigures,
                   {pages_ * kPageSize, memory_ * kPageSize, tasks_, compared_});
    out.add_note(
        "slowdown: against the same graph with memory for all of its tensors; both begin with "
        "tensors on the host, and end when the last task has. Tensors compared as the file says");
    return session_->close();
  }

 private:
  Result<ManagedRun> measure(Bytes limit) {
    auto& card = session_->device();
    auto managed = open_managed(context_, card.device(), card.process().space(), limit);
    if (!managed) return forward_error(managed);
    if (auto ok = fill(**managed); !ok) return forward_error(ok);
    auto graph = checked(build_graph(spec_, tensors_));
    if (!graph) return forward_error(graph);
    tasks_ = graph->graph.tasks();
    const auto before = (*managed)->statistics();
    const auto report = card.run(graph->graph, run_options(context_.parameters));
    if (!report) return name_tasks(report.error(), card.last_result(), *graph);
    ManagedRun run;
    run.span = {report->launched, report->ended, report->scheduler_cause};
    run.done = done_between(before, (*managed)->statistics());
    if (auto ok = check(**managed); !ok) return forward_error(ok);
    if (auto ok = (*managed)->close(); !ok) return forward_error(ok);
    return run;
  }

  Status fill(driver::ManagedMemory& managed) {
    for (auto& tensor : tensors_) {
      const auto at = managed.allocate(tensor.bytes());
      if (!at) return forward_error(at);
      tensor.address = *at;
      if (!tensor.spec->contents) continue;
      const auto contents = checked(evaluate(spec_, tensor, *tensor.spec->contents));
      if (!contents) return forward_error(contents);
      const auto bytes = encode(tensor, *contents);
      if (auto ok = managed.write(*at, {bytes.data(), bytes.size()}); !ok) return ok;
    }
    return {};
  }

  Status check(driver::ManagedMemory& managed) {
    if (!context_.functional) {
      context_.report.add_note("the cores compute nothing (core.functional): nothing compared");
      return {};
    }
    const auto outcome =
        check_tensors(spec_, tensors_, [&](const Tensor& tensor) -> Result<std::vector<std::byte>> {
          std::vector<std::byte> bytes(tensor.bytes());
          if (auto ok = managed.read(tensor.address, {bytes.data(), bytes.size()}); !ok) {
            return forward_error(ok);
          }
          return bytes;
        });
    if (!outcome) return forward_error(outcome);
    compared_ = outcome->elements;
    return {};
  }

  Context& context_;
  const GraphSpec& spec_;
  std::vector<Tensor> tensors_;
  std::unique_ptr<RuntimeSession> session_;
  std::uint64_t pages_ = 0, memory_ = 0;
  std::uint64_t tasks_ = 0, compared_ = 0;
};

}  // namespace
}  // namespace programs::svm_graph

Workload svm_graph() {
  auto parameters = graph_parameters("managed", "pieces=512,height=16");
  parameters.push_back({"ratio", ParameterType::kInteger, "", "200",
                        "percent of the card's memory for them that the tensors take", 10, 1000});
  for (auto& parameter : run_parameters()) parameters.push_back(parameter);
  parameters.push_back(fault_policy_parameter());
  parameters.push_back(density_parameter());
  parameters.push_back(card_parameter());
  return with_latencies(
      {"svm_graph",
       "A task graph on managed tensors that are larger than the card's memory: right, and how "
       "much slower",
       parameters, run_graph<programs::svm_graph::ManagedGraph>,
       figure_rows(programs::svm_graph::kFigures), check_graph, graph_inputs});
}

}  // namespace npu::workloads
