// SPDX-License-Identifier: Apache-2.0
// A network from an ONNX file on a card: each node by operators compiled on demand, results
// compared with those that stand beside the model.
#include <fmt/format.h>

#include "kernels/operators/runner.hpp"
#include "kernels/operators/sources.hpp"
#include "workloads/framework/program_images.hpp"
#include "workloads/network/compare.hpp"
#include "workloads/network/host_nodes.hpp"
#include "workloads/network/interpreter.hpp"
#include "workloads/network/node_times.hpp"
#include "workloads/network/onnx_file.hpp"
#include "workloads/network/passes/pass.hpp"
#include "workloads/network/shapes.hpp"
#include "workloads/network/test_data.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/network_limits.hpp"
#include "workloads/programs/support/network_report.hpp"
#include "workloads/programs/support/operator_limits.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {
namespace programs::network_run {
namespace {

using network::CardRunner;
using network::Graph;
using network::RunTimes;
using network::Tensors;

// An error of the card that no node has had.
template <class T>
Status outside(const char* when, const T& failed) {
  return fail(failed.error().code, fmt::format("{}: {}", when, failed.error().context));
}
constexpr const char* kBefore = "before the network began";
constexpr const char* kBehind = "behind the network's end";

class NetworkRun {
 public:
  NetworkRun(Context& context, const Graph& graph, CardRunner& card)
      : context_(context),
        graph_(graph),
        card_(card),
        steps_(card),
        timer_(context.platform.clock(), card,
               static_cast<std::uint32_t>(context.parameters.integer("card"))),
        network_(graph, steps_, &timer_) {}

  Status prepare() {
    const auto begin = context_.platform.clock().now();
    if (auto ok = network_.prepare(); !ok) return ok;
    if (auto ok = card_.wait(); !ok) return outside("constants", ok);
    figures_.preparing.add({begin, context_.platform.clock().now()});
    figures_.weights = card_.memory().used();
    return {};
  }

  // As often as `runs` says; the last time counts.
  Status run(const Tensors& inputs, const Tensors& expected) {
    const auto runs = context_.parameters.integer("runs");
    for (std::uint64_t i = 0; i < runs; ++i) {
      if (auto ok = run_once(inputs, expected, i + 1 == runs); !ok) return ok;
      context_.step("runs", i + 1, runs);
    }
    return {};
  }

  void report() {
    const bool by_node = context_.parameters.choice("rows") == "nodes";
    NetworkReport(context_, graph_).write(figures_, runs_, by_node);
    limits_->report(graph_, runs_.back(), by_node, context_);
  }

 private:
  Status run_once(const Tensors& inputs, const Tensors& expected, bool counts) {
    const TraceSession listening(context_.trace, timer_);
    std::optional<TraceSession> watching;
    if (counts) watching.emplace(context_.trace, limits_.emplace(context_));
    timer_.start();
    const auto found = network_.run(inputs);
    if (!found) return forward_error(found);
    auto times = timer_.stop();
    if (!counts) return {};
    runs_.push_back(std::move(times));
    for (const auto& [name, tensor] : expected) {
      if (!context_.functional) break;
      if (auto same = network::compare(found->at(name), tensor, graph_.nodes.size() > 1); !same) {
        return fail(same.error().code, fmt::format("'{}': {}", name, same.error().context));
      }
      ++figures_.compared;
    }
    return {};
  }

  Context& context_;
  const Graph& graph_;
  CardRunner& card_;
  network::Steps steps_;
  network::NodeTimer timer_;
  network::Network network_;
  OfNetwork figures_;
  std::vector<RunTimes> runs_;
  std::optional<NetworkLimits> limits_;  // of the last run
};

Status run_sets(Context& context, const Graph& graph, CardRunner& card) {
  const bool is_random = !context.parameters.choice("shapes").empty();
  const auto sets = is_random
                        ? Result<std::vector<network::TestData>>(std::vector<network::TestData>())
                        : network::read_test_data(context.parameters.choice("model"), graph);
  if (!sets) return forward_error(sets);
  NetworkRun run(context, graph, card);
  if (auto ok = run.prepare(); !ok) return ok;
  for (const auto& set : *sets) {
    if (auto ok = run.run(set.inputs, set.outputs); !ok) {
      return fail(ok.error().code,
                  fmt::format("{}: {}", set.folder.filename().string(), ok.error().context));
    }
  }
  if (sets->empty()) {
    const auto inputs = network::random_inputs(graph, context.seed);
    if (!inputs) return forward_error(inputs);
    if (auto ok = run.run(*inputs, {}); !ok) return ok;
  }
  run.report();
  const auto ended = card.wait();
  return ended ? ended : outside(kBehind, ended);
}

ParameterSpec passes_parameter() {
  std::vector<std::string> names;
  for (const auto& row : network::passes::all_passes()) names.emplace_back(row.name);
  const auto all = fmt::format("{}", fmt::join(names, ","));
  names.emplace_back("none");
  return choices_parameter("passes", all, "over the graph before it runs; or none", names);
}

Status run_network(Context& context) {
  const auto card = context.parameters.integer("card");
  if (context.machine == nullptr || card >= context.machine->cards.size()) {
    return fail(ErrorCode::kUnsupported, "networks run on cards of a configuration");
  }
  auto graph = network::read_model(context.parameters.choice("model"));
  if (!graph) return forward_error(graph);
  if (auto ok = network::set_shapes(*graph, context.parameters.choice("shapes")); !ok) return ok;
  const auto passes = network::passes::run_passes(*graph, context.parameters.choices("passes"));
  if (context.parameters.choice("unmapped") == "host") network::place_on_host(*graph);
  auto toolchain = operators::find_toolchain();
  if (!toolchain) return forward_error(toolchain);
  const bool keeps = context.parameters.choice("cache") == "folder";
  jit::KernelCache cache(std::move(*toolchain), {keeps ? jit::default_cache_folder() : ""});
  auto device = open_card(context);
  if (!device) return outside(kBefore, device);
  auto session = QueueSession::open(context, **device);
  if (!session) return outside(kBefore, session);
  operators::LauncherOptions options;
  options.cores = cores_of(context.machine->cards[card]);
  auto launcher =
      operators::Launcher::open((*session)->process(), context.platform.clock(), options);
  if (!launcher) return outside(kBefore, launcher);
  operators::OperatorRunner runner(context.platform, cache, **launcher);
  {
    network::CardOptions card_options;
    card_options.aicpu_program = [&context] { return use_program(context.report, "tensors"); };
    card_options.interrupted = context.interrupted;
    auto steps = CardRunner::open({context.platform, (*session)->process(), runner, **launcher},
                                  std::move(card_options));
    if (!steps) return outside(kBefore, steps);
    if (auto ok = run_sets(context, *graph, **steps); !ok) return ok;
  }
  NetworkReport(context, *graph).write(passes);
  if (auto ok = (*launcher)->close(); !ok) return outside(kBehind, ok);
  const auto closed = (*session)->close();
  return closed ? closed : outside(kBehind, closed);
}

// What the file cannot do is known before a machine is made.
Status check_model(const ParameterSet& parameters, const std::vector<std::string>& /*folders*/) {
  const auto& file = parameters.choice("model");
  if (file.empty()) return fail(ErrorCode::kInvalidArgument, "model: which ONNX file?");
  auto graph = network::read_model(file);
  if (!graph) return forward_error(graph);
  if (auto ok = network::set_shapes(*graph, parameters.choice("shapes")); !ok) return ok;
  if (parameters.choice("unmapped") == "host") network::place_on_host(*graph);
  return network::check_mapped(*graph);
}

}  // namespace
}  // namespace programs::network_run

Workload network_run() {
  return {"network",
          "A network from an ONNX file: each node by operators compiled on demand",
          {{"model", ParameterType::kText, "", "",
            "an ONNX file; test_data_set_0 and so on beside "
            "it have inputs and expected results"},
           {"shapes", ParameterType::kText, "", "",
            "sides of inputs that the model leaves open, NAME:1x3x224x224,...; inputs are random "
            "then"},
           programs::network_run::passes_parameter(),
           {"runs", ParameterType::kInteger, "", "1",
            "how often inputs are computed; times are of the last run, which finds kernels on the "
            "card",
            1, 1'000},
           choice_parameter("unmapped", "refuse",
                            "nodes that no operator of the card does. host: the host computes them",
                            {"refuse", "host"}),
           choice_parameter("rows", "operators", "nodes: the report has each node, too",
                            {"operators", "nodes"}),
           choice_parameter("cache", "folder",
                            "folder: kernels are kept where NPUSIM_JIT_CACHE_DIR says, or in "
                            "~/.cache/npusim/jit",
                            {"none", "folder"}),
           card_parameter()},
          programs::network_run::run_network,
          NetworkReport::rows(),
          programs::network_run::check_model};
}

}  // namespace npu::workloads
