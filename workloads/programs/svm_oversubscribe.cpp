// SPDX-License-Identifier: Apache-2.0
// A managed array that is larger than the memory that the card has for it: how much slower passes
// over it are than with memory for all of it, and why.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/managed_slowdown.hpp"
#include "workloads/programs/support/page_touches.hpp"

namespace npu::workloads {
namespace programs::svm_oversubscribe {
namespace {

using driver::kPageSize;

struct PassesRun : ManagedRun {
  driver::ManagedStatistics last_pass;
};

constexpr Figure<PassesRun> kFigures[] = {
    {"evictions_last_pass", "",
     from<&PassesRun::last_pass, &driver::ManagedStatistics::evictions>}};

class Passes {
 public:
  explicit Passes(Context& context)
      : context_(context),
        memory_(context.parameters.integer("memory")),
        ratio_(context.parameters.integer("ratio")),
        passes_(context.parameters.integer("passes")),
        writes_(context.parameters.choice("access") == "write"),
        table_(context, "pattern",
               fmt::format("{} % of {} pages of 2 MiB, {} passes", ratio_, memory_, passes_)) {}

  Status measure(driver::Device& device, QueueSession& session, const std::string& pattern) {
    auto with_room = run(device, session, pattern, 0);
    if (!with_room) return forward_error(with_room);
    auto without = run(device, session, pattern, memory_ * kPageSize);
    if (!without) return forward_error(without);
    const std::string prefix = "svm_oversubscribe." + pattern;
    table_.add(prefix, pattern, *with_room, *without);
    report_figures(context_, prefix + ".", kFigures, *without);
    return {};
  }

 private:
  // All of them; of the pattern "hot", as many as leave the pages free that are kept free.
  std::uint64_t pages(const std::string& pattern) const {
    if (pattern == "hot") return std::max<std::uint64_t>(memory_ - kKeptFree, 1);
    return std::max<std::uint64_t>(memory_ * ratio_ / 100, 1);
  }

  // Of one pass, of all of which `pass` is the number.
  std::vector<std::uint64_t> order(const std::string& pattern, std::uint64_t pass,
                                   Random& random) const {
    const std::uint64_t all = pages(pattern);
    std::vector<std::uint64_t> touched(static_cast<std::size_t>(all));
    for (std::uint64_t i = 0; i < all; ++i) {
      auto& page = touched[static_cast<std::size_t>(i)];
      page = i;
      if (pattern == "random") page = random.below(all);
      // There and back: what was touched last is touched first.
      if (pattern == "streaming" && pass % 2 != 0) page = all - 1 - i;
    }
    return touched;
  }

  Result<PassesRun> run(driver::Device& device, QueueSession& session, const std::string& pattern,
                        Bytes limit) {
    auto managed = open_managed(context_, device, session.process().space(), limit);
    if (!managed) return forward_error(managed);
    PageTouches touches(context_, session, **managed, pages(pattern));
    if (auto ok = touches.open(true); !ok) return forward_error(ok);
    Random random(context_.seed);
    PassesRun run;
    const auto before = (*managed)->statistics();
    auto last = before;
    run.span.begin = context_.platform.clock().now();
    for (std::uint64_t pass = 0; pass < passes_; ++pass) {
      last = (*managed)->statistics();
      for (const auto page : order(pattern, pass, random)) {
        if (auto ok = touches.touch(page, writes_); !ok) return forward_error(ok);
      }
    }
    run.span.end = context_.platform.clock().now();
    const auto after = (*managed)->statistics();
    run.done = done_between(before, after);
    run.last_pass = done_between(last, after);
    if (auto ok = touches.check(); !ok) return forward_error(ok);
    if (auto ok = touches.close(); !ok) return forward_error(ok);
    if (auto ok = (*managed)->close(); !ok) return forward_error(ok);
    return run;
  }

  static constexpr std::uint64_t kKeptFree = 4;

  Context& context_;
  const std::uint64_t memory_, ratio_, passes_;
  const bool writes_;
  SlowdownTable table_;
};

Status run(Context& context) {
  const auto memory = context.parameters.integer("memory");
  const Bytes array = memory * context.parameters.integer("ratio") / 100 * kPageSize;
  const auto what = fmt::format("memory={}", memory);
  if (auto ok = require_host_memory(what, 4 * array); !ok) return ok;
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  Passes passes(context);
  std::uint64_t done = 0;
  const auto& patterns = context.parameters.choices("patterns");
  for (const auto& pattern : patterns) {
    context.step(pattern, done++, patterns.size());
    if (auto ok = passes.measure(**device, **session, pattern); !ok) return ok;
  }
  context.report.add_note(
      "slowdown: against the same touches with memory for all pages, which the host has filled "
      "before; why: pages that were evicted are faulted for again, and copied in; those that were "
      "written are copied out first, the others dropped. hot: a set of pages that fits. Every byte "
      "compared");
  return (*session)->close();
}

}  // namespace
}  // namespace programs::svm_oversubscribe

Workload svm_oversubscribe() {
  return with_latencies(
      {"svm_oversubscribe",
       "Managed memory larger than the card's: slowdown of passes over it, and its causes",
       {{"memory", ParameterType::kInteger, "", "16", "pages of 2 MiB of the card's", 8, 4096},
        {"ratio", ParameterType::kInteger, "", "125", "percent of that, of the array", 10, 1000},
        {"passes", ParameterType::kInteger, "", "3", "over the array", 1, 1000},
        choices_parameter("patterns", "streaming,cyclic,random,hot",
                          "in which order pages are touched; streaming: there and back",
                          {"streaming", "cyclic", "random", "hot"}),
        choice_parameter("access", "write", "what the card does to a page", {"read", "write"}),
        fault_policy_parameter(),
        density_parameter(),
        card_parameter()},
       programs::svm_oversubscribe::run,
       figure_rows(programs::svm_oversubscribe::kFigures)});
}

}  // namespace npu::workloads
