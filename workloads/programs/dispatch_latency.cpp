// SPDX-License-Identifier: Apache-2.0
// What a task costs beside its kernel: empty kernels in a chain (every task waits for the one
// before) and side by side, with both handshakes. Times come from the records that scheduler and
// cores write by the card's counter; its ticks are coarse, so they are means over all tasks.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/runtime_session.hpp"
#include "workloads/programs/support/scheduler_work.hpp"

namespace npu::workloads {
namespace programs::dispatch_latency {
namespace {

constexpr driver::KernelId kEmpty{0};

// The spans are kept if somebody records events.
struct Means {
  Number sent_to_begun, ended_to_seen;  // ns, core and scheduler on their own ways
  Picoseconds per_task, receive_to_start;
  std::vector<MeasuredSpan> sent, seen, all, setups;

  FigureValue start() const { return {sent_to_begun, sent, platform::Statistic::kMean}; }
  FigureValue setup() const {
    return MeasuredTime{receive_to_start, setups, platform::Statistic::kMedian};
  }
  FigureValue end() const { return {ended_to_seen, seen, platform::Statistic::kMean}; }
  FigureValue task() const { return MeasuredTime{per_task, all, platform::Statistic::kMean}; }
};

constexpr Figure<Means> kFigures[] = {
    {"sent_to_begun_ns", "ns", from<&Means::start>, {"sent to begun ns"}},
    {"receive_to_start_us", "us", from<&Means::setup>, {"received to started us"}},
    {"ended_to_seen_ns", "ns", from<&Means::end>, {"ended to seen ns"}},
    {"per_task_us", "us", from<&Means::task>, {"per task us"}}};
constexpr Figure<Picoseconds> kExtra[] = {{"memory_extra_us", "us", itself}};

// From the look that shows a core its task to the first instruction of the task's kernel.
class Setups : public platform::TraceSink {
 public:
  explicit Setups(bool keeps_spans) : keeps_(keeps_spans) {}
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity != platform::Activity::kTaskSetup) return;
    taken_.push_back(event.end - event.begin);
    if (keeps_) spans.push_back({event.begin, event.end, event.cause});
  }
  // Half of them take no longer: the first ones fetch the kernel, too.
  Picoseconds median() {
    if (taken_.empty()) return {};
    const auto middle = taken_.begin() + static_cast<std::ptrdiff_t>(taken_.size() / 2);
    std::nth_element(taken_.begin(), middle, taken_.end());
    return *middle;
  }

  std::vector<MeasuredSpan> spans;

 private:
  const bool keeps_;
  std::vector<Picoseconds> taken_;
};

// Sums of ticks over the records of a run.
struct Sums {
  std::uint64_t begin = 0, end = 0, count = 0;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;

  explicit Sums(const std::vector<abi::TaskRecord>& records) {
    for (const auto& record : records) {
      if (record.dispatch == 0) continue;
      begin += record.begun - record.sent;
      end += record.seen - record.ended;
      first = std::min(first, record.sent);
      last = std::max(last, record.seen);
      ++count;
    }
  }
};

class Dispatch {
 public:
  Dispatch(Context& context, RuntimeSession& session)
      : context_(context), session_(session), work_(context, {"handshake", "tasks"}) {}

  Result<Means> run(abi::HandshakeKind handshake, bool chain) {
    driver::TaskGraph graph;
    const auto tasks = context_.parameters.integer("tasks");
    for (std::uint32_t i = 0; i < tasks; ++i) {
      driver::TaskOptions options;
      if (chain && i != 0) options.after = {driver::TaskId{i - 1}};
      auto task = graph.add(kEmpty, driver::TaskShape::kAiv, {driver::scalar(i)}, options);
      if (!task) return forward_error(task);
    }
    auto options = run_options(context_.parameters);
    options.handshake = handshake;
    options.profiling = true;
    const bool recorded = context_.platform.tracer().enabled();
    Setups setups(recorded);
    context_.trace.add(setups);
    auto report = session_.device().run(graph, options);
    context_.trace.remove(setups);
    if (!report) return forward_error(report);
    const Sums sums(report->records);
    if (sums.count == 0 || sums.count != tasks) {
      return fail(ErrorCode::kWrongData, fmt::format("{} records of {} tasks", sums.count, tasks));
    }
    const std::uint64_t hz = report->result.counter_hz;
    if (hz == 0) {
      return fail(ErrorCode::kWrongData, "the run's result has 0 ticks per second");
    }
    const std::uint64_t tick = 1'000'000'000'000 / hz;  // ps
    Means means;
    means.sent_to_begun = Number::quotient(sums.begin * tick, sums.count * 1000, 1);
    means.ended_to_seen = Number::quotient(sums.end * tick, sums.count * 1000, 1);
    means.receive_to_start = setups.median();
    const auto at = [tick](std::uint64_t ticks) {
      return Instant(Picoseconds(static_cast<std::int64_t>(ticks * tick)));
    };
    means.per_task = mean(at(sums.last) - at(sums.first), sums.count);
    if (!recorded) return means;
    for (const auto& record : report->records) {
      if (record.dispatch == 0) continue;
      means.sent.push_back({at(record.sent), at(record.begun), report->scheduler_cause});
      means.seen.push_back({at(record.ended), at(record.seen), report->scheduler_cause});
    }
    means.all = {{at(sums.first), at(sums.last), report->scheduler_cause, sums.count}};
    means.setups = std::move(setups.spans);
    return means;
  }

  Status compare() {
    auto& table = add_figure_table(context_.report,
                                   "A task beside its kernel, means (received to started: median)",
                                   {"handshake", "tasks"}, kFigures);
    Picoseconds per_task[2];
    for (const bool chain : {true, false}) {
      for (const auto handshake : {abi::HandshakeKind::kRegister, abi::HandshakeKind::kMemory}) {
        work_.begin();
        auto means = run(handshake, chain);
        if (!means) return forward_error(means);
        const std::string kind = handshake == abi::HandshakeKind::kMemory ? "memory" : "register";
        const std::string order = chain ? "chain" : "parallel";
        work_.end(context_.parameters.integer("tasks"), {kind, order});
        report_figures(context_, fmt::format("dispatch.{}.{}.", kind, order), kFigures, *means,
                       &table, {kind, order});
        per_task[handshake == abi::HandshakeKind::kMemory] = means->per_task;
      }
      report_figures(context_, chain ? "dispatch.chain." : "dispatch.parallel.", kExtra,
                     per_task[1] - per_task[0]);
    }
    work_.report();
    return {};
  }

 private:
  Context& context_;
  RuntimeSession& session_;
  SchedulerWork work_;
};

Status run(Context& context) {
  auto session = RuntimeSession::open(context, {"empty"});
  if (!session) return forward_error(session);
  if (auto ok = Dispatch(context, **session).compare(); !ok) return ok;
  context.report.add_note(
      "sent: the scheduler has opened the task's record, before it writes the payload; received: "
      "the "
      "core has seen the task; begun: it has taken payload and arguments; started: the kernel's "
      "first instruction; ended: the core is done; seen: the scheduler has noticed.");
  return (*session)->close();
}

}  // namespace
}  // namespace programs::dispatch_latency

Workload dispatch_latency() {
  std::vector<ParameterSpec> parameters = {
      {"tasks", ParameterType::kInteger, "", "200", "of each run", 2, 65'536}, card_parameter()};
  for (auto& parameter : run_parameters()) {
    if (parameter.name != "handshake") parameters.push_back(std::move(parameter));
  }
  return {"dispatch_latency",
          "Empty tasks, in a chain and side by side, with both handshakes: what a task costs",
          std::move(parameters), programs::dispatch_latency::run,
          figure_rows(programs::dispatch_latency::kFigures, programs::dispatch_latency::kExtra)};
}

}  // namespace npu::workloads
