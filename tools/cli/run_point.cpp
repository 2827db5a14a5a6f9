// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/run_point.hpp"

#include <fmt/format.h>

#include <utility>

#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/run_checks.hpp"
#include "tools/cli/sweep/program_digest.hpp"
#include "tools/reports/digest.hpp"
#include "tools/reports/input_file.hpp"
#include "tools/reports/report_json.hpp"
#include "tools/timeline/time_text.hpp"
#include "workloads/framework/fault_text.hpp"
#include "workloads/simulator/identity.hpp"

namespace npu::cli {
namespace {

using timeline::exact_time_text;
using workloads::ParameterSet;
using workloads::Workload;

// What a run would have that is only half of one.
Outcome check_options_of_save(const Options& options) {
  for (const auto* file : {&options.report, &options.html, &options.config_out, &options.trace,
                           &options.vcd, &options.branches}) {
    if (file->empty()) continue;
    return bad_input(
        "--save: the run ends before it has a report; there is no --report, --html, --config-out, "
        "--trace, --vcd or --branches");
  }
  if (options.watch || options.profile)
    return bad_input("--save: there is no --watch or --profile");
  return {};
}

// Faults that happen behind the instant.
Outcome check_faults(const std::vector<std::string>& faults, Picoseconds reached) {
  const auto parsed = workloads::parse_faults(faults);
  if (!parsed) return bad_input("--fault: " + parsed.error().context);
  for (const auto& each : *parsed) {
    const bool later =
        each.when.kind == testkit::When::Kind::kAt && each.when.instant.since_power_up() > reached;
    if (later) continue;
    return bad_input(fmt::format("--fault {}: the run goes on from {}; allowed: a later time (at=)",
                                 workloads::fault_text(each), exact_time_text(reached)));
  }
  return {};
}

std::string digest_of(const reports::Report& report, const workloads::SimulatorView& simulator) {
  reports::Report now = report;
  workloads::add_machine(now, simulator);
  return reports::sha256_text(reports::to_json(now));
}

std::vector<std::pair<std::string, std::string>> inputs_of(const Workload& workload,
                                                           const ParameterSet& parameters) {
  std::vector<std::pair<std::string, std::string>> inputs;
  if (workload.inputs == nullptr) return inputs;
  for (const auto& file : workload.inputs(parameters, config_directories())) {
    inputs.emplace_back(file, sweep::file_digest(file));
  }
  return inputs;
}

}  // namespace

tl::expected<RunPoint, Failure> RunPoint::read(Options& options) {
  if (!options.resume.empty()) return read_saved(options);
  RunPoint point;
  if (options.save.empty() && !options.until) return point;
  if (options.save.empty()) return bad_input("--until: give a file to save (--save)");
  if (!options.until) return bad_input("--save: give a time (--until)");
  const auto until = timeline::parse_time(*options.until);
  if (!until) {
    return bad_input("--until: found '" + shortened(*options.until) +
                     "'; allowed: a time, such as 2.5ms");
  }
  if (auto ok = check_options_of_save(options); !ok) return tl::unexpected(ok.error());
  auto file = OptionFile::open("--save", options.save);
  if (!file) return tl::unexpected(file.error());
  point.mode_ = Mode::kSave;
  point.file_ = std::move(*file);
  point.name_ = options.save;
  point.point_.until = *until;
  return point;
}

tl::expected<RunPoint, Failure> RunPoint::read_saved(Options& options) {
  if (!options.save.empty() || options.until) {
    return bad_input("--resume: there is no --save or --until");
  }
  if (!options.branches.empty()) return bad_input("--resume: there is no --branches");
  if (!options.arguments.empty()) return bad_input("--resume: the file names the workload");
  if (!options.config.empty() || options.seed_given) {
    return bad_input("--resume: the file says --config and --seed");
  }
  const std::string name = shortened(options.resume, kShownPath);
  const auto text = reports::read_file(options.resume);
  if (!text) return bad_input("--resume: " + text.error().context);
  auto saved = parse_point(*text);
  if (!saved) return bad_input("--resume: " + name + ": " + saved.error().context);
  if (auto ok = check_faults(options.faults, saved->reached); !ok) {
    return tl::unexpected(ok.error());
  }
  RunPoint point;
  point.mode_ = Mode::kResume;
  point.point_ = std::move(*saved);
  point.name_ = name;
  point.changes_ = std::exchange(options.sets, point.point_.sets);
  options.arguments = {point.point_.workload};
  options.config = point.point_.config;
  options.seed = point.point_.seed;
  options.faults.insert(options.faults.begin(), point.point_.faults.begin(),
                        point.point_.faults.end());
  return point;
}

Outcome RunPoint::begin(const Workload& workload, const Options& options, ParameterSet& parameters,
                        reports::Report& report, RunMonitor& monitor) {
  parameters_ = &parameters;
  report_ = &report;
  monitor_ = &monitor;
  if (mode_ == Mode::kNone) return {};
  awaited_ = true;
  // Looked at between all events until then: so both runs stop at the same one.
  Interruption::raised() = true;
  if (mode_ == Mode::kResume) {
    if (auto same = check_identity(workload); !same) return same;
    return check_changes(workload);
  }
  point_.version = NPU_VERSION;
  point_.build = sweep::program_digest();
  point_.workload = workload.name;
  point_.config = options.config;
  point_.config_sha256 = report.config_sha256;
  point_.sets = options.sets;
  point_.faults = options.faults;
  point_.seed = options.seed;
  point_.inputs = inputs_of(workload, parameters);
  return {};
}

Outcome RunPoint::check_identity(const Workload& workload) const {
  const std::string where = "--resume: " + name_ + ": ";
  if (point_.build != sweep::program_digest()) {
    return bad_input(where + "was saved by another build of npusim (" + shortened(point_.version) +
                     ")");
  }
  if (point_.config_sha256 != report_->config_sha256) {
    return bad_input(where + "the configuration has changed since: " + shortened(point_.config));
  }
  const auto inputs = inputs_of(workload, *parameters_);
  if (inputs == point_.inputs) return {};
  for (const auto& [file, digest] : inputs) {
    for (const auto& [before, digest_before] : point_.inputs) {
      if (file != before || digest == digest_before) continue;
      return bad_input(where + "a file has changed since: " + shortened(file, kShownPath));
    }
  }
  return bad_input(where + "the run reads other files than before");
}

Outcome RunPoint::check_changes(const Workload& workload) {
  if (changes_.empty()) return {};
  ParameterSet changed = *parameters_;
  for (const auto& set : changes_) {
    const std::string where = "--set " + shortened(set) + ": ";
    if (set.find('=') == std::string::npos) return bad_input(where + "not of the form key=value");
    if (!is_parameter(workload, set.substr(0, set.find('=')))) {
      return bad_input(where + "no parameter of " + workload.name +
                       "; the configuration is that of the beginning");
    }
    const Status assigned = changed.assign(set);
    if (!assigned) return bad_input(where + assigned.error().context);
  }
  if (workload.check != nullptr) {
    const Status usable = workload.check(changed, config_directories());
    if (!usable) return bad_input(usable.error().context);
  }
  std::vector<std::string> names;
  const auto before = parameters_->texts(), after = changed.texts();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].second != after[i].second) names.push_back(before[i].first);
  }
  changed_ = std::move(changed);
  parameters_->before_reading(std::move(names), [this](std::string_view name) {
    if (!awaited_) return change();
    failure_ = Failure{kExitBadInput,
                       fmt::format("--set {}: the run reads it before {}, from where it goes on",
                                   name, exact_time_text(point_.reached))};
  });
  return {};
}

void RunPoint::change() {
  for (const auto& [name, text] : changed_->texts()) {
    // They are values that the set has taken before.
    if (const auto set = parameters_->set(name, text); !set) {
      failure_ = Failure{kExitFailure, set.error().context};
    }
  }
  report_->parameters = parameters_->values();
  changed_.reset();
}

bool RunPoint::look(workloads::SimulatorView& simulator) {
  if (!awaited_) return monitor_->look(simulator);
  constexpr std::uint64_t kBetween = 4096;  // looks: who waits for the run need not see each
  const bool is_there = simulator.simulated_time() >= point_.until || failure_.has_value();
  if (!is_there && ++looks_ % kBetween != 0) return false;
  if (monitor_->look(simulator)) return true;
  if (!is_there) {
    Interruption::raised() = true;
    return false;
  }
  const bool ends = failure_.has_value() || reach(simulator);
  if (failure_) failure_->stopped = true;
  return ends;
}

// True: the run ends here.
bool RunPoint::reach(const workloads::SimulatorView& simulator) {
  awaited_ = false;
  const Picoseconds reached = simulator.simulated_time();
  const std::uint64_t events = simulator.events();
  const std::string state = digest_of(*report_, simulator);
  if (mode_ == Mode::kSave) {
    point_.reached = reached;
    point_.events = events;
    point_.state = state;
    return true;
  }
  if (reached == point_.reached && events == point_.events && state == point_.state) return false;
  failure_ = Failure{kExitFailure, fmt::format("--resume: {}: the run has come to another state at "
                                               "{} than when it was saved",
                                               name_, exact_time_text(reached))};
  return true;
}

void RunPoint::end(Picoseconds now, bool well) {
  if (changed_ && !awaited_) change();
  if (!well || !awaited_ || failure_ || mode_ == Mode::kNone) return;
  const std::string ended = "the run ends at " + exact_time_text(now);
  failure_ = mode_ == Mode::kSave
                 ? Failure{kExitBadInput, "--until " + exact_time_text(point_.until) + ": " + ended}
                 : Failure{kExitFailure, "--resume: " + name_ + ": " + ended + ", before " +
                                             exact_time_text(point_.reached)};
}

Outcome RunPoint::write() {
  if (auto written = file_->write(point_text(point_)); !written) return written;
  return print(fmt::format("{}: saved at {}, after {} events\n", point_.workload,
                           exact_time_text(point_.reached), point_.events));
}

}  // namespace npu::cli
