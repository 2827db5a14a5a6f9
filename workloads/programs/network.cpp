// SPDX-License-Identifier: Apache-2.0
// A network from an ONNX file on a card: each node by operators compiled on demand, results
// compared with those that stand beside the model.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "kernels/operators/runner.hpp"
#include "kernels/operators/sources.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/network/compare.hpp"
#include "workloads/network/interpreter.hpp"
#include "workloads/network/onnx_file.hpp"
#include "workloads/network/passes/pass.hpp"
#include "workloads/network/shapes.hpp"
#include "workloads/network/test_data.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/operator_limits.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {
namespace programs::network_run {
namespace {

using network::CardMemory;
using network::Graph;
using network::Tensors;
using operators::OperatorCall;

// Memory of the process, given back to it.
class ProcessMemory final : public CardMemory {
 public:
  ProcessMemory(driver::ProcessContext& process, driver::DeviceAddress address)
      : CardMemory(address), process_(process) {}
  // What cannot be given back goes with the process.
  ~ProcessMemory() override { static_cast<void>(process_.space().free(address())); }

 private:
  driver::ProcessContext& process_;
};

// `host`: from the call of an operator to its last doorbell; the first call has the upload of its
// image in it. `card`: from there to the end that the host sees.
struct LaunchTimes {
  Picoseconds host{}, card{};
};

class OperatorSteps final : public network::StepRunner {
 public:
  OperatorSteps(Context& context, QueueSession& session, operators::OperatorRunner& runner,
                operators::Launcher& launcher)
      : context_(context), session_(session), runner_(runner), launcher_(launcher) {}

  Result<std::shared_ptr<CardMemory>> allocate(Bytes size) override {
    auto memory = session_.process().space().allocate(size);
    if (!memory) return forward_error(memory);
    return std::make_shared<ProcessMemory>(session_.process(), memory->address);
  }
  Status write(driver::DeviceAddress to, ConstByteSpan from) override {
    return session_.write(to, from);
  }
  Status read(driver::DeviceAddress from, ByteSpan to) override { return session_.read(from, to); }
  Status run(const OperatorCall& call) override {
    auto kernel = runner_.find(call, context_.interrupted);
    if (!kernel) return forward_error(kernel);
    const auto begin = context_.platform.clock().now();
    if (auto ran = runner_.run(call, std::move(*kernel)); !ran) return forward_error(ran);
    const auto rung = context_.platform.clock().now();
    if (auto done = launcher_.wait(); !done) return done;
    times_.host += rung - begin;
    times_.card += context_.platform.clock().now() - rung;
    return {};
  }
  Status run(const abi::TensorWork& work) override {
    constexpr unsigned kAicpus = 4;  // every chip has so many
    const auto begin = context_.platform.clock().now();
    std::vector<std::uint64_t> words(sizeof work / sizeof(std::uint64_t));
    std::memcpy(words.data(), &work, sizeof work);
    session_.forget_launches();  // they have been waited for
    const auto entry = session_.launch("tensors", kAicpus, words.data(), words.size(),
                                       abi::QueueOpcode::kLaunchAicpu);
    if (!entry) return forward_error(entry);
    const auto ready = context_.platform.clock().now();
    if (auto done = session_.run(&*entry, 1); !done) return done;
    times_.host += ready - begin;
    times_.card += context_.platform.clock().now() - ready;
    return {};
  }
  LaunchTimes times() const { return times_; }

 private:
  Context& context_;
  QueueSession& session_;
  operators::OperatorRunner& runner_;
  operators::Launcher& launcher_;
  LaunchTimes times_;
};

struct OfNetwork {
  std::uint64_t nodes = 0, operators = 0, sets = 0, compared = 0;
  LaunchTimes launches;
  Picoseconds preparing{}, duration{};

  Picoseconds host() const { return launches.host; }
  Picoseconds card() const { return launches.card; }
};

constexpr Figure<OfNetwork> kFigures[] = {
    {"nodes", "", from<&OfNetwork::nodes>, {"nodes"}},
    {"operators", "", from<&OfNetwork::operators>, {"launches"}},
    {"data_sets", "", from<&OfNetwork::sets>, {"data sets"}},
    {"results_compared", "", from<&OfNetwork::compared>, {"results compared"}},
    {"host_us", "us", from<&OfNetwork::host>, {"host us"}},
    {"card_us", "us", from<&OfNetwork::card>, {"card us"}},
    {"prepare_us", "us", from<&OfNetwork::preparing>, {"prepare us"}},
    {"duration_us", "us", from<&OfNetwork::duration>, {"duration us"}}};

struct OfOperator {
  std::uint64_t nodes = 0, operators = 0;
  LaunchTimes launches;

  Picoseconds host() const { return launches.host; }
  Picoseconds card() const { return launches.card; }
};
constexpr Figure<OfOperator> kOfOperator[] = {
    {"nodes", "", from<&OfOperator::nodes>, {"nodes"}},
    {"operators", "", from<&OfOperator::operators>, {"launches"}},
    {"host_us", "us", from<&OfOperator::host>, {"host us"}},
    {"card_us", "us", from<&OfOperator::card>, {"card us"}}};

class NetworkRun {
 public:
  NetworkRun(Context& context, const Graph& graph, OperatorSteps& card)
      : context_(context),
        graph_(graph),
        card_(card),
        steps_(card),
        network_(graph, steps_,
                 [this](std::size_t node, std::uint64_t operators) { count(node, operators); }) {}

  Status prepare() {
    const auto begin = context_.platform.clock().now();
    if (auto ok = network_.prepare(); !ok) return ok;
    figures_.preparing = context_.platform.clock().now() - begin;
    return {};
  }

  Status run(const Tensors& inputs, const Tensors& expected) {
    const auto begin = context_.platform.clock().now();
    const auto found = network_.run(inputs);
    if (!found) return forward_error(found);
    figures_.duration += context_.platform.clock().now() - begin;
    ++figures_.sets;
    for (const auto& [name, tensor] : expected) {
      if (!context_.functional) break;
      if (auto same = network::compare(found->at(name), tensor, graph_.nodes.size() > 1); !same) {
        return fail(same.error().code, fmt::format("'{}': {}", name, same.error().context));
      }
      ++figures_.compared;
    }
    return {};
  }

  void report() {
    figures_.nodes = graph_.nodes.size();
    figures_.operators = steps_.count();
    figures_.launches = card_.times();
    auto& whole = add_figure_table(context_.report, "network", {}, kFigures);
    report_figures(context_, "network.", kFigures, figures_, &whole, {});
    auto& table = add_figure_table(context_.report, "nodes", {"operator of ONNX"}, kOfOperator);
    for (const auto& [op, row] : by_operator_) {
      report_figures(context_, "network." + op + ".", kOfOperator, row, &table, {op});
    }
    if (figures_.compared == 0) {
      context_.report.add_note("results are not compared: there are none beside the model");
    }
  }

 private:
  void count(std::size_t node, std::uint64_t operators) {
    auto& row = by_operator_[graph_.nodes[node].op];
    ++row.nodes;
    row.operators += operators;
    const auto now = card_.times();
    row.launches.host += now.host - reported_.host;
    row.launches.card += now.card - reported_.card;
    reported_ = now;
    context_.step(graph_.nodes[node].op, node + 1, graph_.nodes.size());
  }

  Context& context_;
  const Graph& graph_;
  OperatorSteps& card_;
  network::Steps steps_;
  network::Network network_;
  OfNetwork figures_;
  LaunchTimes reported_;  // before a node
  std::map<std::string, OfOperator> by_operator_;
};

Status run_sets(Context& context, const Graph& graph, OperatorSteps& card) {
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
  return {};
}

constexpr Figure<network::passes::PassResult> kOfPass[] = {
    {"found", "", from<&network::passes::PassResult::found>, {"found"}},
    {"nodes_before", "", from<&network::passes::PassResult::nodes_before>, {"nodes before"}},
    {"nodes_after", "", from<&network::passes::PassResult::nodes_after>, {"after"}}};

void report_passes(Context& context, const std::vector<network::passes::PassResult>& results) {
  const bool any =
      std::any_of(results.begin(), results.end(), [](const auto& each) { return each.found != 0; });
  auto* const table =
      any ? &add_figure_table(context.report, "passes", {"pass", "what"}, kOfPass) : nullptr;
  for (const auto& each : results) {
    report_figures(context, fmt::format("network.pass.{}.", each.name), kOfPass, each,
                   each.found == 0 ? nullptr : table,
                   {std::string(each.name), std::string(each.what)});
  }
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
  auto toolchain = operators::find_toolchain();
  if (!toolchain) return forward_error(toolchain);
  const bool keeps = context.parameters.choice("cache") == "folder";
  jit::KernelCache cache(std::move(*toolchain), {keeps ? jit::default_cache_folder() : ""});
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  operators::LauncherOptions options;
  options.cores = cores_of(context.machine->cards[card]);
  auto launcher =
      operators::Launcher::open((*session)->process(), context.platform.clock(), options);
  if (!launcher) return forward_error(launcher);
  operators::OperatorRunner runner(context.platform, cache, **launcher);
  OperatorSteps steps(context, **session, runner, **launcher);
  if (auto ok = run_sets(context, *graph, steps); !ok) return ok;
  report_passes(context, passes);
  if (auto ok = (*launcher)->close(); !ok) return ok;
  return (*session)->close();
}

// What the file cannot do is known before a machine is made.
Status check_model(const ParameterSet& parameters, const std::vector<std::string>& /*folders*/) {
  const auto& file = parameters.choice("model");
  if (file.empty()) return fail(ErrorCode::kInvalidArgument, "model: which ONNX file?");
  auto graph = network::read_model(file);
  if (!graph) return forward_error(graph);
  if (auto ok = network::set_shapes(*graph, parameters.choice("shapes")); !ok) return ok;
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
           choice_parameter("cache", "folder",
                            "folder: kernels are kept where NPUSIM_JIT_CACHE_DIR says, or in "
                            "~/.cache/npusim/jit",
                            {"none", "folder"}),
           card_parameter()},
          programs::network_run::run_network,
          figure_rows(programs::network_run::kFigures, programs::network_run::kOfOperator,
                      programs::network_run::kOfPass),
          programs::network_run::check_model};
}

}  // namespace npu::workloads
