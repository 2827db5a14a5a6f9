// SPDX-License-Identifier: Apache-2.0
// Small copies through a full ring for as long as is asked, while faults come at random instants:
// each command ends or is answered with an error, and no memory grows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_recovery.hpp"
#include "workloads/programs/support/fault_draws.hpp"
#include "workloads/programs/support/tagged_chains.hpp"

namespace npu::workloads {
namespace programs::soak {
namespace {

// A fault begins within this time and lasts at most as long: a full ring takes some three of it.
constexpr Picoseconds kNear = 100_us;
constexpr unsigned kStep = 1024;  // chains
constexpr unsigned kTried = 16;   // the first ones after an error: no more faults are asked for

struct Soaked {
  CommandCounts commands;
  std::uint64_t faults = 0;    // that were asked for
  std::uint64_t errors = 0;    // after which all was well for a while
  std::uint64_t reopened = 0;  // of these
  Picoseconds longest{};       // recovery
  MeasuredSpan span{};         // of all commands
};

constexpr Figure<Soaked> kFigures[] = {
    {"commands", "", from<&Soaked::commands, &CommandCounts::submitted>},
    {"completed", "", from<&Soaked::commands, &CommandCounts::completed>},
    {"failed", "", from<&Soaked::commands, &CommandCounts::failed>, {}, kNotJudged},
    {"lost", "", from<&Soaked::commands, &CommandCounts::lost>, {}, kNoMore},
    {"wrong", "", from<&Soaked::commands, &CommandCounts::wrong>, {}, kNoMore},
    {"faults", "", from<&Soaked::faults>},
    {"errors", "", from<&Soaked::errors>, {}, kNotJudged},
    {"reopened", "", from<&Soaked::reopened>, {}, kNotJudged},
    {"recovery_max_us", "us", from<&Soaked::longest>},
    {"ns_per_command", "ns", from<&Soaked::span>}};

class Soak {
 public:
  explicit Soak(Context& context)
      : context_(context),
        random_(context.random()),
        commands_(context.parameters.integer("commands")),
        faults_(context.parameters.integer("faults")) {
    draw_next();
  }

  Status run() {
    const Instant begin = now();
    while (result_.commands.submitted < commands_ || !quiet_) {
      context_.step("submitting", std::min(result_.commands.submitted, commands_), commands_);
      auto done = step();
      if (done) continue;
      if (!impossible_) return impossible_;
      ++errors_[std::string(to_string(done.error().code))];
      if (!recovery_) recovery_.emplace(context_);
      if (auto on = recovery_->after_error(chains_); !on) return on;
    }
    chains_.reset();
    const auto& counts = result_.commands;
    result_.span = {begin, now(), 0, counts.submitted};
    report_figures(context_, "soak.", kFigures, result_);
    context_.report.add_note(describe());
    if (counts.lost + counts.wrong == 0 && counts.completed + counts.failed == counts.submitted) {
      return {};
    }
    return fail(
        ErrorCode::kWrongData,
        fmt::format("of {} commands {} ended, {} failed, {} were lost; {} chains left wrong "
                    "data",
                    counts.submitted, counts.completed, counts.failed, counts.lost, counts.wrong));
  }

 private:
  Instant now() const { return context_.platform.clock().now(); }

  // Opens the card if it is not, and submits some chains more. At the end of the run, after an
  // error and now and then it waits for all of them.
  Status step() {
    const unsigned chains = recovery_ ? kTried : kStep;
    quiet_ = false;
    if (!chains_) {
      auto opened = TaggedChains::open(context_, context_.parameters.size("cell"), random_.next(),
                                       result_.commands);
      if (!opened) return forward_error(opened);
      chains_.emplace(std::move(*opened));
    }
    const auto before = result_.commands.completed;
    for (unsigned i = 0; i < chains && result_.commands.submitted < commands_; ++i) {
      impossible_ = begin_fault();
      if (!impossible_) return impossible_;
      if (auto ok = chains_->submit(); !ok) return ok;
    }
    const bool is_last = result_.commands.submitted >= commands_;
    if (is_last || recovery_ || random_.below(64) == 0) {
      if (auto ok = chains_->drain(); !ok) return ok;
      quiet_ = is_last;
      if (recovery_ && (quiet_ || result_.commands.completed > before)) recovered();
    }
    return {};
  }

  Status begin_fault() {
    if (recovery_ || result_.faults == faults_ || result_.commands.submitted < next_) return {};
    ++result_.faults;
    draw_next();
    const auto& kinds = context_.parameters.choices("kinds");
    const auto& kind = kinds[random_.below(kinds.size())];
    const auto& row = *std::find_if(kFaultClasses.begin(), kFaultClasses.end(),
                                    [&kind](const FaultClass& each) { return each.name == kind; });
    const FaultRange range{static_cast<unsigned>(context_.parameters.integer("card")), kNear,
                           chains_->used(), 64_KiB};
    return context_.faults->inject(draw_fault(random_, row, range),
                                   testkit::at(now() + draw_time(random_, kNear)));
  }

  // Commands that must have been submitted before the next fault is asked for: those that are
  // left are spread over the rest of the run.
  void draw_next() {
    const auto done = result_.commands.submitted, left = faults_ - result_.faults;
    const auto rest = commands_ > done ? commands_ - done : 0;
    next_ = done + random_.below(std::max<std::uint64_t>(2 * rest / (left + 1), 1));
  }

  void recovered() {
    ++result_.errors;
    if (recovery_->reopened()) ++result_.reopened;
    result_.longest = std::max(result_.longest, now() - recovery_->told_at());
    recovery_.reset();
  }

  std::string describe() const {
    std::string text = "errors of the driver:";
    for (const auto& [error, times] : errors_) text += fmt::format(" {} {},", times, error);
    if (errors_.empty()) return text + " none";
    text.pop_back();
    return text;
  }

  Context& context_;
  Random random_;
  std::uint64_t commands_, faults_;  // that were asked for
  std::uint64_t next_ = 0;
  std::optional<TaggedChains> chains_;
  std::optional<CardRecovery> recovery_;  // from an error until chains are right again
  bool quiet_ = false;                    // all commands are submitted, and ended well
  Status impossible_;                     // why a fault cannot be had
  std::map<std::string, std::uint64_t> errors_;
  Soaked result_;
};

Status run(Context& context) {
  if (context.faults == nullptr && context.parameters.integer("faults") != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "this machine cannot have faults on request: faults=0");
  }
  if (context.parameters.size("cell") % 8 != 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cell={}: not a multiple of 8", context.parameters.size("cell")));
  }
  return Soak(context).run();
}

}  // namespace
}  // namespace programs::soak

Workload soak() {
  return {
      "soak",
      "Small copies through a full ring under random faults: none is lost, however many there are",
      {{"commands", ParameterType::kInteger, "", "100000", "commands to submit", 1, 1'000'000'000},
       {"faults", ParameterType::kInteger, "", "20", "that begin at random instants", 0,
        10'000'000},
       choices_parameter("kinds", fmt::format("{}", fmt::join(kinds_of_copies(), ",")),
                         "kinds of faults", kinds_of_copies()),
       {"cell", ParameterType::kSize, "B", "64", "bytes that each command copies: a multiple of 8",
        8, 4096},
       ring_parameter(),
       card_parameter()},
      programs::soak::run,
      figure_rows(programs::soak::kFigures)};
}

}  // namespace npu::workloads
