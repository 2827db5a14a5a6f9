// SPDX-License-Identifier: Apache-2.0
// What waiting costs: latency against CPU time, for polling, interrupts and the adaptive policy.
#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/waiters.hpp"

namespace npu::workloads {
namespace programs::event_wait {
namespace {

constexpr Bytes kSmallest = 64;
constexpr Bytes kLargest = 64_MiB;
constexpr int kCalibrationRounds = 8;

// A copy that takes about as long as wanted, and how long it took when polled for.
struct Calibrated {
  WaitShape shape;
  Picoseconds latency;
};

class Bench {
 public:
  Bench(Context& context, driver::Device& device) : context_(context), device_(device) {}

  // A latency is nearly a straight line over the size: find where it crosses `target`.
  Result<Calibrated> calibrate(Picoseconds target, std::uint64_t tasks) {
    Calibrated low;
    // A copy over the link may take longer than that at any size; one inside the card does not.
    for (const auto opcode : {abi::DmaOpcode::kHostToDevice, abi::DmaOpcode::kDeviceToDevice}) {
      low.shape.tasks = tasks;
      low.shape.opcode = opcode;
      low.shape.size = kSmallest;
      set_rounds(low.shape, target);
      if (auto ok = time(low); !ok) return forward_error(ok);
      if (low.latency <= target) break;
    }
    if (low.latency >= target) return low;
    Calibrated high = low;
    high.shape.size = 64_KiB;
    if (auto ok = time(high); !ok) return forward_error(ok);
    Calibrated best = high;
    for (int round = 0; round < kCalibrationRounds && !near(best.latency, target); ++round) {
      if (high.latency <= low.latency) break;
      const auto rise = static_cast<std::int64_t>(high.shape.size - low.shape.size);
      const auto more = (target - low.latency).count() / 1000 * rise /
                        std::max<std::int64_t>(1, (high.latency - low.latency).count() / 1000);
      const auto size = align_down(kSmallest + static_cast<Bytes>(more), kSmallest);
      high.shape.size = std::clamp(size, 2 * kSmallest, kLargest);
      if (auto ok = time(high); !ok) return forward_error(ok);
      if (gap(high.latency, target) < gap(best.latency, target)) best = high;
    }
    return best;
  }

  Result<WaitTotals> measure(WaitShape shape, const std::string& policy) {
    shape.policy = wait_policy(policy);
    return run_waiters(context_, device_, shape);
  }

 private:
  static Picoseconds gap(Picoseconds latency, Picoseconds target) {
    return latency < target ? target - latency : latency - target;
  }
  static bool near(Picoseconds latency, Picoseconds target) {
    return gap(latency, target) * 100 <= target;
  }
  // The same to find the size as to compare the policies: where many streams queue for the link,
  // the first waits are shorter than those after the streams have spread out.
  void set_rounds(WaitShape& shape, Picoseconds target) const {
    const auto most = context_.parameters.integer("iterations");
    const auto wanted = static_cast<std::uint64_t>(500_us / std::max(target, 1_us));
    // The long ones vary least and cost most to simulate.
    shape.iterations = std::clamp(wanted, std::min<std::uint64_t>(3, most), most);
    shape.warm_up = context_.parameters.integer("warm_up");
  }
  Status time(Calibrated& calibrated) {
    const auto totals = run_waiters(context_, device_, calibrated.shape);
    if (!totals) return forward_error(totals);
    calibrated.latency = totals->mean_latency();
    return {};
  }

  Context& context_;
  driver::Device& device_;
};

struct Waited {
  WaitTotals totals;

  MeasuredTime latency() const {
    return {totals.mean_latency(), totals.spans, platform::Statistic::kMean};
  }
  MeasuredTime worst() const { return {totals.worst, totals.spans, platform::Statistic::kMost}; }
  Picoseconds cpu() const {
    const auto waits = std::max<std::uint64_t>(1, totals.waits);
    return totals.cpu.busy / static_cast<std::int64_t>(waits);
  }
  Number cpu_percent() const {
    return Number::percent(static_cast<std::uint64_t>(totals.cpu.busy.count()),
                           static_cast<std::uint64_t>(totals.wait_time.count()));
  }
  Number switches() const { return Number::quotient(totals.cpu.context_switches, totals.waits, 3); }
};

constexpr Figure<Waited> kFigures[] = {
    {"latency_ns", "ns", from<&Waited::latency>, {"latency"}},
    {"latency_max_ns", "ns", from<&Waited::worst>},
    {"cpu_ns_per_wait", "ns", from<&Waited::cpu>, {"CPU per wait"}},
    {"cpu_percent", "%", from<&Waited::cpu_percent>, {"CPU %"}, kHardlyMore},
    {"context_switches_per_wait", "", from<&Waited::switches>, {"switches"}, kNoMore}};

// "event_wait.polling.10us", with ".streams32" behind it if several tasks wait at once.
std::string metric_prefix(const std::string& policy, std::uint64_t us, std::uint64_t tasks) {
  const auto prefix = fmt::format("event_wait.{}.{}us", policy, us);
  return tasks == 1 ? prefix : prefix + fmt::format(".streams{}", tasks);
}

Status run_tasks(Context& context, Bench& bench, std::uint64_t tasks) {
  auto& table = add_figure_table(
      context.report,
      fmt::format("waiting on {} stream(s), one task each; times in ns, means", tasks),
      {"target us", "copy", "policy"}, kFigures);
  const auto& targets = context.parameters.integers("targets");
  std::uint64_t done = 0;
  for (const auto us : targets) {
    context.step(fmt::format("{} streams, {} us", tasks, us), done++, targets.size());
    auto copy = bench.calibrate(Picoseconds(static_cast<std::int64_t>(us) * 1'000'000), tasks);
    if (!copy) return forward_error(copy);
    const auto name =
        std::string(to_string(copy->shape.opcode)) + " " + size_name(copy->shape.size);
    for (const auto& policy : context.parameters.choices("policies")) {
      auto totals = bench.measure(copy->shape, policy);
      if (!totals) return forward_error(totals);
      report_figures(context, metric_prefix(policy, us, tasks) + ".", kFigures, {*totals}, &table,
                     {std::to_string(us), name, policy});
    }
  }
  return {};
}

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  Bench bench(context, **device);
  for (const auto tasks : context.parameters.integers("streams")) {
    if (auto ok = run_tasks(context, bench, tasks); !ok) return ok;
  }
  context.report.add_note(
      "latency: submit() called to wait() returned; CPU: consumed inside wait(), its percentage of "
      "the time spent there; switches: times a wait was put to sleep. The copy for each target was "
      "found by measuring, with as many streams and by polling.");
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::event_wait

Workload event_wait() {
  return {
      "event_wait",
      "Latency and CPU time of waiting by polling, by interrupt and adaptively",
      {choices_parameter("policies", "polling,interrupt,adaptive", "policies to compare",
                         {"polling", "interrupt", "adaptive"}),
       {"targets", ParameterType::kIntegerList, "us", "1,5,10,20,50,100,500",
        "how long the copies waited for should take", 1, 1000},
       {"streams", ParameterType::kIntegerList, "", "1,32", "streams, each with a task that waits",
        1, 1024},
       {"iterations", ParameterType::kInteger, "", "40", "waits per task; fewer for long targets",
        1, 10'000},
       {"warm_up", ParameterType::kInteger, "", "6", "waits before those, unmeasured", 0, 10'000},
       ring_parameter(),
       card_parameter()},
      programs::event_wait::run,
      figure_rows(programs::event_wait::kFigures)};
}

}  // namespace npu::workloads
