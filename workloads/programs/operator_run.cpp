// SPDX-License-Identifier: Apache-2.0
// An operator compiled on demand, called some times in one process: who had the kernel, what each
// layer of the call costs its host, how long the card takes. Every element is compared.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "kernels/operators/runner.hpp"
#include "kernels/operators/sources.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/framework/launch_limits.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/block_span.hpp"
#include "workloads/programs/support/cache_state.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/operator_limits.hpp"
#include "workloads/programs/support/operator_parameters.hpp"
#include "workloads/programs/support/operator_problem.hpp"
#include "workloads/programs/support/peer_memory.hpp"
#include "workloads/programs/support/queue_session.hpp"
#include "workloads/programs/support/tensor_reference.hpp"

namespace npu::workloads {
namespace programs::operator_run {
namespace {

using operators::OperatorCall;

constexpr Figure<jit::Counters> kOfCache[] = {
    {"compiled", "", from<&jit::Counters::compiled>},
    {"disk_hits", "", from<&jit::Counters::disk_hits>},
    {"memory_hits", "", from<&jit::Counters::memory_hits>}};
constexpr Figure<BlockSpan> kOnDevice[] = {{"device_us", "us", from<&BlockSpan::measured>},
                                           {"pipes_us", "us", from<&BlockSpan::measured_pipes>}};
constexpr Figure<MeasuredTime> kOfCall[] = {{"wall_us", "us", itself}};
constexpr Figure<operators::Ran> kOfLaunch[] = {
    {"workspace_bytes", "B", from<&operators::Ran::workspace_bytes>},
    {"launches", "", from<&operators::Ran::launches>}};
constexpr Figure<MeasuredTime> kOfHost[] = {{"ns", "ns", itself}};  // behind a layer's name

class OperatorRun {
 public:
  OperatorRun(Context& context, QueueSession& session, operators::OperatorRunner& runner,
              operators::Launcher& launcher, jit::KernelCache& cache)
      : context_(context),
        session_(session),
        runner_(runner),
        launcher_(launcher),
        cache_(cache),
        call_(operator_call_of(context.parameters)) {}

  Status prepare() {
    auto normalised = operators::normalise(call_);
    if (!normalised) return forward_error(normalised);
    if (context_.functional && !has_arithmetic(*normalised)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} computes nothing: its time is with functional=off", call_.name));
    }
    problem_.emplace(std::move(*normalised), context_.seed,
                     OperatorOptions{group_ends_of(context_.parameters),
                                     context_.parameters.flag("quant_scales"),
                                     context_.parameters.choice("scales") != "one",
                                     context_.parameters.choice("scales") == "both",
                                     context_.parameters.integer("calls")});
    const auto buffers = context_.parameters.integer("buffers");
    Bytes all = 0;
    for (std::size_t i = 0; i < problem_->results(); ++i) all += problem_->result_bytes(i);
    for (std::size_t i = 0; i < problem_->inputs(); ++i) all += problem_->input_bytes(i);
    all *= buffers;
    // Of each: the card's, the host's, and doubles for the check.
    const Bytes kept = context_.functional ? 8 * all : 0;
    if (auto ok = require_host_memory("shape", kept); !ok) return ok;
    for (std::uint64_t i = 0; i < buffers; ++i) {
      if (auto ok = place_tensors(); !ok) return ok;
      calls_.push_back(call_);
    }
    return {};
  }

  // With `peer` the first input lies on another card.
  Status place_tensors() {
    for (std::size_t i = 0; i < problem_->inputs(); ++i) {
      if (!problem_->given(i)) continue;
      if (i == 0 && context_.parameters.flag("peer")) {
        if (auto ok = place_at_peer(); !ok) return ok;
        continue;
      }
      if (auto ok = place(call_.inputs[i], problem_->input_bytes(i)); !ok) return ok;
      if (!context_.functional && !problem_->steers(i)) continue;
      const auto bytes = problem_->input(i);
      auto ok = session_.write({call_.inputs[i]}, {bytes.data(), bytes.size()});
      if (!ok) return ok;
    }
    for (std::size_t i = 0; i < problem_->results(); ++i) {
      if (problem_->in_place()) {
        call_.results[i] = call_.inputs[i];
        continue;
      }
      if (auto ok = place(call_.results[i], problem_->result_bytes(i)); !ok) return ok;
    }
    return {};
  }

  Status place_at_peer() {
    const auto card = static_cast<std::uint32_t>(context_.parameters.integer("card") == 0 ? 1 : 0);
    auto memory = PeerMemory::create(context_, session_.process().space(), card,
                                     std::max<Bytes>(problem_->input_bytes(0), 1));
    if (!memory && memory.error().code == ErrorCode::kNotFound) {
      return fail(
          ErrorCode::kInvalidArgument,
          "peer=on: the machine has one card; system-2x910b2 has two with a link between them");
    }
    if (!memory) return forward_error(memory);
    call_.inputs[0] = (*memory)->address().value;
    peers_.push_back(std::move(*memory));
    if (!context_.functional) return {};
    const auto bytes = problem_->input(0);
    return peers_.back()->write({bytes.data(), bytes.size()});
  }

  Status call_all() {
    const auto calls = launches_of(context_.parameters, "calls");
    for (std::uint64_t i = 0; i < calls; ++i) {
      span_ = {};
      limits_.emplace(context_);
      const TraceSession listening(context_.trace, span_);
      const TraceSession watching(context_.trace, *limits_);
      call_ = calls_[i % calls_.size()];
      auto kernel = runner_.find(call_, context_.interrupted);
      if (!kernel) return forward_error(kernel);
      kernel_ = kernel->kernel;
      auto ran = runner_.run(call_, std::move(*kernel));
      if (!ran) return forward_error(ran);
      if (ran->compile_time.count() != 0) {
        // Wall time is in no report: for who watches.
        compiled_ = fmt::format("calls; compiled in {:.3f} s of wall time",
                                static_cast<double>(ran->compile_time.count()) / 1e9);
      }
      for (const auto& warning : ran->warnings) {
        std::fprintf(stderr, "operator: %s\n", warning.c_str());
      }
      context_.step(compiled_, i + 1, calls);
      if (auto ok = launcher_.wait(); !ok) return ok;
      note_wall(*ran);
      limits_->ended(context_);
      if (!first_) first_ = *ran;
      last_ = std::move(*ran);
    }
    return {};
  }

  // Memory of other cards goes before the process does.
  void free_peers() { peers_.clear(); }

  Status check() {
    if (!context_.functional) return {};
    std::vector<std::vector<std::byte>> results(problem_->results());
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].resize(problem_->result_bytes(i));
      auto ok = session_.read({call_.results[i]}, {results[i].data(), results[i].size()});
      if (!ok) return ok;
    }
    return problem_->check(results, kernel_->reference());
  }

  void report() {
    auto& out = context_.report;
    report_figures(context_, "operator.", kOfCache, cache_.counters());
    report_host("operator.first_call.", first_->times);
    report_host("operator.host.", last_.times);
    report_figures(context_, "operator.", kOnDevice, span_);
    report_figures(context_, "operator.", kOfCall, wall_);
    report_figures(context_, "operator.", kOfLaunch, last_);
    for (const auto& span : span_.blocks_span()) {
      limits_->report(
          {"operator", "operator.device_us", published_name(call_), problem_->operations()},
          span.begin, span.end, context_);
    }
    out.add_note(fmt::format("{}: key {}", call_.name, last_.key));
    out.add_note(fmt::format(
        "host: from the call to the last doorbell, first_call with the kernel's look-up "
        "and upload, in which the driver's instructions count; wall: from the first submission "
        "until the "
        "host has seen the last completion; pipes: from the first copy's begin to the last "
        "copy's end; {}",
        compared()));
  }

 private:
  const char* compared() const {
    if (!context_.functional) return "not compared";
    const auto row = operators::find_operator(call_.name);
    const bool unknown = row && (*row)->described() && kernel_->reference() == nullptr;
    return unknown ? "not compared: the source has no NPU_REFERENCE" : "every element compared";
  }

  void report_host(const std::string& prefix, const operators::LayerTimes& times) {
    MeasuredTime total{times.total(), {}};
    for (std::size_t i = 0; i < operators::kLayers; ++i) {
      const auto layer = static_cast<operators::Layer>(i);
      MeasuredTime of_layer{times.of(layer), {}};
      for (const auto& span : times.spans) {
        if (span.layer == layer) of_layer.spans.push_back({span.begin, span.end});
      }
      total.spans.insert(total.spans.end(), of_layer.spans.begin(), of_layer.spans.end());
      report_figures(context_, fmt::format("{}{}_", prefix, operators::kLayerNames[i]), kOfHost,
                     of_layer);
    }
    report_figures(context_, prefix + "total_", kOfHost, total);
  }

  // From the submission of the first launch until the last one's completion has been seen.
  void note_wall(const operators::Ran& ran) {
    wall_ = {};
    const auto& calls = launcher_.calls();
    if (ran.launches == 0 || calls.size() < ran.launches) return;
    const auto begin = calls[calls.size() - ran.launches].first;
    const auto end = context_.platform.clock().now();
    wall_ = {end - begin, {{begin, end}}};
  }

  Status place(std::uint64_t& address, Bytes bytes) {
    auto memory = session_.allocate(std::max<Bytes>(bytes, 1));
    if (!memory) return forward_error(memory);
    address = memory->value;
    return {};
  }

  Context& context_;
  QueueSession& session_;
  operators::OperatorRunner& runner_;
  operators::Launcher& launcher_;
  jit::KernelCache& cache_;
  OperatorCall call_;                // the last one
  std::vector<OperatorCall> calls_;  // in turn
  std::vector<std::unique_ptr<PeerMemory>> peers_;
  std::optional<OperatorProblem> problem_;
  BlockSpan span_;
  MeasuredTime wall_;                   // of the last call
  std::optional<LaunchLimits> limits_;  // of the last call
  std::shared_ptr<const jit::Kernel> kernel_;
  std::optional<operators::Ran> first_;
  operators::Ran last_;
  std::string compiled_ = "calls";
};

Status run_operator(Context& context) {
  const auto card = context.parameters.integer("card");
  if (context.machine == nullptr || card >= context.machine->cards.size()) {
    return fail(ErrorCode::kUnsupported, "operators are launched on cards of a configuration");
  }
  auto toolchain = operators::find_toolchain();
  if (!toolchain) return forward_error(toolchain);
  const bool counts = operators::counts_instructions(*toolchain) &&
                      context.machine->firmware.instructions == model::Instructions::kCounted;
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
  OperatorRun run(context, **session, runner, **launcher, cache);
  if (auto ok = run.prepare(); !ok) return ok;
  if (auto ok = run.call_all(); !ok) return ok;
  if (auto ok = run.check(); !ok) return ok;
  run.report();
  context.report.add_note(
      fmt::format("the kernel's instructions {}", counts ? "are counted" : "take no time"));
  if (auto ok = (*launcher)->close(); !ok) return ok;
  run.free_peers();
  return (*session)->close();
}

Status check_call(const ParameterSet& parameters, const std::vector<std::string>& /*folders*/) {
  if (auto ok = check_call_numbers(parameters); !ok) return ok;
  const auto normalised = operators::normalise(operator_call_of(parameters));
  if (!normalised) return forward_error(normalised);
  if (auto ok = check_size(normalised->call); !ok) return ok;
  if (!normalised->call.expression.empty()) {
    const auto expression = ElementExpression::parse(normalised->call.expression);
    if (!expression) return forward_error(expression);
  }
  return check_group_ends(*normalised, group_ends_of(parameters));
}

}  // namespace
}  // namespace programs::operator_run

Workload operator_run() {
  return {"operator",
          "An operator compiled on demand, and what each layer of its call costs",
          operator_parameters(),
          programs::operator_run::run_operator,
          figure_rows(programs::operator_run::kOfCache, programs::operator_run::kOnDevice,
                      programs::operator_run::kOfCall, programs::operator_run::kOfLaunch,
                      programs::operator_run::kOfHost),
          programs::operator_run::check_call};
}

}  // namespace npu::workloads
