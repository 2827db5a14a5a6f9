// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "model/config/short_keys.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/identity.hpp"
#include "tools/cli/last_writer.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/planned_faults.hpp"
#include "tools/cli/recording.hpp"
#include "tools/cli/run_branches.hpp"
#include "tools/cli/run_checks.hpp"
#include "tools/cli/run_monitor.hpp"
#include "tools/cli/run_point.hpp"
#include "tools/cli/run_speed.hpp"
#include "tools/cli/simulator.hpp"
#include "workloads/framework/registry.hpp"
#include "workloads/programs/support/driver_settings.hpp"
#include "workloads/simulator/identity.hpp"

namespace npu::cli {
namespace {

using workloads::ParameterSet;
using workloads::Workload;

// Gives parameters their values and returns what is left for the configuration.
tl::expected<std::vector<std::string>, Failure> apply_parameters(const Workload& workload,
                                                                 const Options& options,
                                                                 ParameterSet& parameters) {
  std::vector<std::string> given, overrides;
  for (const auto& set : options.sets) {
    const std::string key = set.substr(0, set.find('='));
    const std::string where = "--set " + shortened(set) + ": ";
    if (key.size() == set.size()) return bad_input(where + "not of the form key=value");
    if (!is_parameter(workload, key)) {
      if (!model::is_config_key(key)) return bad_input(where + unknown_key(workload, key));
      overrides.push_back(set);
      continue;
    }
    if (std::find(given.begin(), given.end(), key) != given.end()) {
      return bad_input(where + "'" + key + "' is set twice");
    }
    given.push_back(key);
    const Status assigned = parameters.assign(set);
    if (!assigned) return bad_input(where + assigned.error().context);
  }
  return overrides;
}

// The machine has less than what the run asks for, or it asks for what cannot be. What comes of
// faults of the machine has other codes.
bool asks_too_much(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kMisaligned:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kOutOfResources:
    case ErrorCode::kUnsupported:
      return true;
    default:
      return false;
  }
}

// What was asked for, if the error does not name the parameter itself.
std::string asked_with(const Options& options) {
  constexpr std::size_t kShown = 120;
  std::string sets;
  for (const auto& set : options.sets) sets += (sets.empty() ? "" : ", ") + set;
  return sets.empty() ? "; asked for by default" : "; asked for with " + shortened(sets, kShown);
}

Failure run_failure(const Error& error, const Workload& workload, const Options& options) {
  const std::string prefix = workload.name + ": ";
  if (error.code == ErrorCode::kInvalidArgument) return {kExitBadInput, prefix + error.context};
  if (!asks_too_much(error.code)) return {kExitFailure, prefix + error.message()};
  return {kExitBadInput, prefix + error.message() + asked_with(options)};
}

// What the machine did, at the end of the run or where it stopped.
void add_machine(reports::Report& report, const workloads::SimulatorView& simulator,
                 std::uint64_t& events) {
  workloads::add_machine(report, simulator);
  events = simulator.events();
}

// The run was ended from outside, or is stuck.
Outcome stopped(const Error& error, const Workload& workload, const reports::Report& report,
                int signal) {
  const std::string prefix = workload.name + ": ";
  if (signal == 0) return failure(prefix + error.message());
  constexpr int kSignalled = 128;
  return tl::unexpected(Failure{
      kSignalled + signal, prefix + "interrupted by " + signal_name(signal) + " after " +
                               time_text(report.simulated) + " simulated; the report is partial"});
}

// Who is there during a run.
struct Attendants {
  Recording& recording;
  Watch* watch;  // null: nobody looks
  RunMonitor& monitor;
  const PlannedFaults& faults;
  RunBranches& branches;
  RunPoint& point;
  gdb::Debugger* debugger;  // null: nobody debugs
  LastWriter* writer;       // null: nobody looks for one
  std::string& wrote;       // what it says
};

Outcome simulate(const Workload& workload, const model::SystemConfig& config,
                 const ParameterSet& parameters, const Options& options, reports::Report& report,
                 const Attendants& there) {
  const RunSpeed speed;
  std::uint64_t events = 0;
  std::optional<Status> result;
  const auto program = [&](Machine& machine) {
    bool functional = true;
    for (const auto& card : config.cards) functional = functional && card.core.functional;
    workloads::Context context{machine.platform,
                               parameters,
                               report.seed,
                               report,
                               machine.trace,
                               machine.simulator,
                               [&](std::string_view what, std::uint64_t done, std::uint64_t total) {
                                 there.monitor.step(what, done, total);
                               },
                               &config,
                               config_directories(),
                               functional,
                               [] { return Interruption::signal() != 0; },
                               {},
                               workloads::features_of(config.driver.features)};
    context.faults = &machine.faults;
    if (there.writer != nullptr) there.writer->watch(machine.system);
    there.branches.set_clock([&] { return machine.simulator.simulated_time(); });
    result = there.faults.inject(machine.faults);
    if (*result) result = workload.run(context);
    machine.settle();
    there.faults.report(report, machine.faults);
    add_machine(report, machine.simulator, events);
    if (there.writer != nullptr) there.wrote = there.writer->text();
  };
  std::vector<Listener*> listeners{&there.recording};
  if (there.watch != nullptr) listeners.push_back(there.watch);
  model::SystemConfig seeded = config;
  seeded.cpu.run_seed = report.seed;
  const Status ran = run_on_simulator(
      seeded, program, listeners, &there.point,
      [&](workloads::SimulatorView& simulator) { add_machine(report, simulator, events); },
      there.debugger);
  there.branches.divide_at_end();
  there.point.end(report.simulated, ran && *result);
  there.monitor.finish();
  speed.show(events, options.verbosity > 0);
  if (!ran) return stopped(ran.error(), workload, report, there.monitor.signal());
  if (*result) return without_hazards(config, workload.name, report);
  // A signal came while only the host was at work.
  if (result->error().code == ErrorCode::kAborted && Interruption::signal() != 0) {
    return stopped(result->error(), workload, report, Interruption::signal());
  }
  return tl::unexpected(run_failure(result->error(), workload, options));
}

// How it ended, for the report.
std::string outcome_of(const Outcome& ran) {
  if (ran) return reports::kComplete;
  return ran.error().exit_code > kExitBadInput ? "interrupted" : "failed: " + ran.error().text;
}

// Where a run goes.
struct Files {
  Recording& recording;
  OptionFile& report;
  OptionFile& page;
};

Outcome write_all_of(const Outcome& ran, const model::SystemConfig& config, const Files& files,
                     reports::Report& report) {
  report.outcome = outcome_of(ran);
  files.recording.complete(report, config);
  // What was refused has not begun to run.
  if (!ran && ran.error().exit_code == kExitBadInput) return ran;
  // Of a run that failed, too: it is what one looks into then. A disk without room for a timeline
  // does not cost the report.
  const Outcome recorded = files.recording.write(report);
  const Outcome published = publish(files.report, files.page, report);
  if (!ran) return ran;
  return recorded ? published : recorded;
}

// Of --save: frames of the machine's tasks stay as they are, as when a signal ends a run.
Outcome end_at(RunPoint& point) {
  if (auto written = point.write(); !written) return written;
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace

Outcome run_workload(const Options& given, gdb::Debugger* debugger, LastWriter* writer) {
  Options options = given;
  auto point = RunPoint::read(options);
  if (!point) return tl::unexpected(point.error());
  if (options.arguments.empty()) return bad_input("run: give a workload; see npusim list");
  if (auto ok = expect_at_most(1, "run", options.arguments); !ok) return ok;
  const auto found = workloads::all_workloads().find(options.arguments[0]);
  if (!found) return bad_input(found.error().context);
  const Workload& workload = **found;
  ParameterSet parameters(workload.parameters);
  const auto overrides = apply_parameters(workload, options, parameters);
  if (!overrides) return tl::unexpected(overrides.error());
  if (workload.check != nullptr) {
    const Status usable = workload.check(parameters, config_directories());
    if (!usable) return bad_input(usable.error().context);
  }
  const auto config = load_config(options.config, *overrides);
  if (!config) return tl::unexpected(config.error());
  if (auto there = check_card(parameters, config->cards.size()); !there) return there;
  if (auto apart = check_files(options, &workload, &parameters); !apart) return apart;
  const auto faults = PlannedFaults::parse(options, *config);
  if (!faults) return tl::unexpected(faults.error());
  auto branches = RunBranches::read(options, workload);
  if (!branches) return tl::unexpected(branches.error());
  auto file = OptionFile::open("--report", options.report);
  if (!file) return tl::unexpected(file.error());
  auto page = OptionFile::open("--html", options.html);
  if (!page) return tl::unexpected(page.error());
  auto recording = Recording::open(options);
  if (!recording) return tl::unexpected(recording.error());
  auto watch = Watch::open(options.watch, workload.name + " on " + options.config);
  if (!watch) return tl::unexpected(watch.error());
  // From here on signals end the run with a report.
  RunMonitor monitor(workload.name, watch->get());
  if (auto done = write_config(options.config_out, *config); !done) return done;

  auto report = workloads::begin_report(workload.name, options.config, *config, *overrides);
  report.seed = options.seed;
  report.parameters = parameters.values();
  std::optional<Failure> no_file;
  branches->begin(parameters, [&](const sweep::Branch& branch) {
    options.sets = branch.sets;
    report.parameters = parameters.values();
    file = OptionFile::open("--report", branch.report);
    if (!file) no_file = file.error();
  });
  if (auto same = point->begin(workload, options, parameters, report, monitor); !same) return same;
  std::string wrote;
  const auto ran = simulate(
      workload, *config, parameters, options, report,
      {*recording, watch->get(), monitor, *faults, *branches, *point, debugger, writer, wrote});
  if (no_file) return tl::unexpected(*no_file);
  if (point->failure()) return tl::unexpected(*point->failure());
  if (point->is_to_be_written()) return end_at(*point);
  if (writer != nullptr) {
    const Outcome said = wrote.empty() ? Outcome{} : print(wrote);
    return ran ? said : ran;
  }
  return write_all_of(ran, *config, {*recording, *file, *page}, report);
}

}  // namespace npu::cli
