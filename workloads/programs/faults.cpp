// SPDX-License-Identifier: Apache-2.0
// Faults of a card at any instant of a round of copies: whether each is told or without effect, and
// how long it takes until a whole round is right again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "npu/driver/memory_scrub.hpp"
#include "workloads/framework/fault_text.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_recovery.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/fault_draws.hpp"

namespace npu::workloads {
namespace programs::faults {
namespace {

using driver::DeviceAddress;
using driver::DmaCommand;
using driver::WaitPolicy;
using testkit::Fault;
using testkit::FaultKind;

constexpr Bytes kBlock = 64_KiB;
constexpr unsigned kCopies = 4;       // each way in a round
constexpr unsigned kUnmetRounds = 3;  // rounds that a fault may meet nothing in

// A card that is open, with the memory of a round.
class Session {
 public:
  static Result<Session> open(Context& context) {
    Session made(context);
    auto device = open_card(context);
    if (!device) return forward_error(device);
    made.device_ = std::move(*device);
    const auto stream = made.device_->create_stream();
    if (!stream) return forward_error(stream);
    made.stream_ = *stream;
    const auto memory = made.device_->allocate(kCopies * kBlock);
    if (!memory) return forward_error(memory);
    made.memory_ = memory->address;
    for (auto* const host : {&made.from_, &made.to_}) {
      auto allocated = made.device_->allocate_host(kCopies * kBlock);
      if (!allocated) return forward_error(allocated);
      *host = std::move(*allocated);
    }
    return made;
  }

  // Copies to the card and back, waited for in the way of this round. kWrongData: all of them were
  // done, and the data are not those that were sent. Other errors are those of the driver.
  Status round(std::uint64_t number) {
    constexpr WaitPolicy kPolicies[] = {WaitPolicy::kInterrupt, WaitPolicy::kAdaptive,
                                        WaitPolicy::kPolling};
    fill_pattern(from_->cpu(), number);
    const auto last = submit();
    if (!last) return forward_error(last);
    const auto waited = device_->wait(*last, kPolicies[number % 3], deadline_of(context_));
    if (!waited) return waited;
    return check_equal(from_->cpu(), to_->cpu(), "a round that the driver calls done");
  }
  Status reset() { return device_->reset_queue(); }
  Result<driver::ScrubReport> scrub() {
    return driver::scrub_memory(*device_, deadline_of(context_));
  }
  Bytes used() const { return device_->memory_statistics().used(); }

 private:
  explicit Session(Context& context) : context_(context) {}

  Result<driver::Ticket> submit() {
    Result<driver::Ticket> last = driver::Ticket{};
    for (unsigned i = 0; i < 2 * kCopies && last; ++i) {
      const Bytes offset = i % kCopies * kBlock;
      const DeviceAddress card = memory_ + offset;
      last = device_->submit(
          stream_, i < kCopies ? DmaCommand::host_to_device(from_->bus() + offset, card, kBlock)
                               : DmaCommand::device_to_host(card, to_->bus() + offset, kBlock));
    }
    return last;
  }

  Context& context_;
  std::unique_ptr<driver::Device> device_;
  driver::StreamId stream_{};
  DeviceAddress memory_{};
  std::unique_ptr<platform::DmaMemory> from_, to_;  // freed before the device is
};

struct Trial {
  bool told = false;       // a call of the driver failed
  bool reopened = false;   // the card had to be opened again
  Picoseconds recovery{};  // from the fault to the end of a right round
};

struct ClassResult {
  std::string name;
  std::vector<Trial> trials;
  std::map<std::string, unsigned> errors;  // that the driver gave first

  std::uint64_t count(bool Trial::*which) const {
    return static_cast<std::uint64_t>(
        std::count_if(trials.begin(), trials.end(), [which](const Trial& t) { return t.*which; }));
  }
  std::uint64_t instants() const { return trials.size(); }
  std::uint64_t told() const { return count(&Trial::told); }
  std::uint64_t reopened() const { return count(&Trial::reopened); }
  // The `percent`-th of the sorted recovery times.
  Picoseconds recovery(unsigned percent) const {
    std::vector<Picoseconds> times;
    times.reserve(trials.size());
    for (const auto& trial : trials) times.push_back(trial.recovery);
    std::sort(times.begin(), times.end());
    return times[(times.size() - 1) * percent / 100];
  }
  Picoseconds shortest() const { return recovery(0); }
  Picoseconds median() const { return recovery(50); }
  Picoseconds longest() const { return recovery(100); }
  std::string first_errors() const {
    std::string text;
    for (const auto& [error, times] : errors) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", times, error);
    }
    return text.empty() ? "none" : text;
  }
};

constexpr Figure<ClassResult> kFigures[] = {
    {"instants", "", from<&ClassResult::instants>, {"instants"}},
    {"errors", "", from<&ClassResult::told>, {"errors"}},
    {"reopened", "", from<&ClassResult::reopened>, {"reopened"}},
    {"recovery_min_us", "us", from<&ClassResult::shortest>, {"min us"}},
    {"recovery_median_us", "us", from<&ClassResult::median>, {"median us"}},
    {"recovery_max_us", "us", from<&ClassResult::longest>, {"max us"}},
};

// Of the run.
struct RunFigures {
  Picoseconds undisturbed{};  // a round
  driver::ScrubReport scrub{};
  Picoseconds scrub_time() const { return scrub.time; }
  std::uint64_t found() const { return scrub.found.single + scrub.found.multi; }
};
constexpr Figure<RunFigures> kRunFigures[] = {
    {"undisturbed_us", "us", from<&RunFigures::undisturbed>},
    {"scrub_us", "us", from<&RunFigures::scrub_time>},
    {"scrub_found", "", from<&RunFigures::found>},
};

class Faults {
 public:
  explicit Faults(Context& context) : context_(context), random_(context.random()) {}

  Status run() {
    if (auto ok = reopen(); !ok) return ok;
    if (auto ok = session_->round(0); !ok) return ok;  // the first one fills TLBs
    const auto begin = now();
    if (auto ok = session_->round(++rounds_); !ok) return ok;
    undisturbed_ = now() - begin;
    auto& table = add_figure_table(context_.report, "faults", {"fault"}, kFigures);
    const auto& names = context_.parameters.choices("kinds");
    for (std::size_t i = 0; i < names.size(); ++i) {
      context_.step(names[i], i, names.size());
      auto result = try_class(names[i]);
      if (!result) return forward_error(result);
      report_figures(context_, "faults." + names[i] + ".", kFigures, *result, &table, {names[i]});
      context_.report.add_note(names[i] + ": errors of the driver: " + result->first_errors());
    }
    RunFigures all{undisturbed_, {}};
    if (auto ok = scrub(all.scrub); !ok) return ok;
    report_figures(context_, "faults.", kRunFigures, all);
    return {};
  }

 private:
  Instant now() const { return context_.platform.clock().now(); }

  // What no round has read: nothing is left behind it that a read corrects.
  Status scrub(driver::ScrubReport& report) {
    if (!session_) {
      if (auto ok = reopen(); !ok) return ok;
    }
    const auto done = session_->scrub();
    if (!done && done.error().code != ErrorCode::kUnsupported) return forward_error(done);
    if (done) report = *done;
    return {};
  }

  Result<ClassResult> try_class(const std::string& name) {
    const auto* const row =
        std::find_if(kFaultClasses.begin(), kFaultClasses.end(),
                     [&name](const FaultClass& each) { return name == each.name; });
    ClassResult result{name, {}, {}};
    for (std::uint64_t i = 0; i < context_.parameters.integer("instants"); ++i) {
      const auto trial = try_once(draw_fault(random_, *row, range()), result.errors);
      if (!trial) return forward_error(trial);
      result.trials.push_back(*trial);
    }
    return result;
  }

  // Faults with a duration last at most as long as a round.
  FaultRange range() const {
    return {static_cast<unsigned>(context_.parameters.integer("card")), undisturbed_,
            session_->used(), kCopies * kBlock};
  }

  Result<Trial> try_once(const Fault& fault, std::map<std::string, unsigned>& errors) {
    const auto instant = now() + draw_time(random_, undisturbed_);
    // Faults that were asked for beside these may never happen.
    const auto others = context_.faults->pending();
    if (auto begun = context_.faults->inject(fault, testkit::at(instant)); !begun) {
      return forward_error(begun);
    }
    CardRecovery recovery(context_);
    // No round reads registers: a completion for the host goes wrong when the card is opened.
    bool opens =
        class_of(fault.kind).takes("requester") && fault.requester == testkit::Requester::kHost;
    for (unsigned unmet = 0;;) {
      const bool is_round = session_.has_value();
      auto done = is_round ? session_->round(++rounds_) : reopen();
      if (!done && done.error().code == ErrorCode::kWrongData) {
        return fail(
            ErrorCode::kWrongData,
            fmt::format("{}: {}", fault_text({fault, testkit::at(instant)}), done.error().context));
      }
      if (!done) {
        if (!recovery.told()) ++errors[std::string(to_string(done.error().code))];
        if (auto on = recovery.after_error(session_); !on) return forward_error(on);
      } else if (!is_round || now() < instant) {
        continue;
      } else if (context_.faults->pending() <= others && !opens) {
        break;
      } else if (opens || ++unmet % kUnmetRounds == 0) {
        opens = false;
        session_.reset();
      }
    }
    return Trial{recovery.told(), recovery.reopened(), now() - instant};
  }

  Status reopen() {
    auto opened = Session::open(context_);
    if (!opened) return forward_error(opened);
    session_.emplace(std::move(*opened));
    return {};
  }

  Context& context_;
  Random random_;
  std::optional<Session> session_;
  std::uint64_t rounds_ = 0;
  Picoseconds undisturbed_{};  // of a round
};

Status run(Context& context) {
  if (context.faults == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "this machine cannot have faults on request");
  }
  return Faults(context).run();
}

}  // namespace
}  // namespace programs::faults

Workload faults() {
  return {"faults",
          "Faults of a card at random instants of copies: each is told or harmless, and how long "
          "recovery takes",
          {choices_parameter("kinds", fmt::format("{}", fmt::join(kinds_of_copies(), ",")),
                             "kinds of faults", kinds_of_copies()),
           {"instants", ParameterType::kInteger, "", "20", "of each kind", 1, 100'000},
           ring_parameter(),
           card_parameter()},
          programs::faults::run,
          figure_rows(programs::faults::kFigures, programs::faults::kRunFigures)};
}

}  // namespace npu::workloads
