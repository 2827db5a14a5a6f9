// SPDX-License-Identifier: Apache-2.0
// npusim exec: programs of others, whose calls of the C API the simulated cards serve.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "apps/compat/protocol/work_meter.hpp"
#include "apps/exec/server.hpp"
#include "machine/gdb/debugger.hpp"
#include "npu/base/shortened.hpp"
#include "npu/driver/scan.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/exec_functions.hpp"
#include "tools/cli/exec_monitor.hpp"
#include "tools/cli/exec_races.hpp"
#include "tools/cli/exec_report.hpp"
#include "tools/cli/exec_sharing.hpp"
#include "tools/cli/exec_work.hpp"
#include "tools/cli/identity.hpp"
#include "tools/cli/metrics/exec_metrics.hpp"
#include "tools/cli/planned_faults.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/recording.hpp"
#include "tools/cli/run_checks.hpp"
#include "tools/cli/simulator.hpp"
#include "workloads/framework/program_images.hpp"
#include "workloads/programs/support/driver_settings.hpp"
#include "workloads/programs/support/operator_limits.hpp"
#include "workloads/simulator/identity.hpp"

namespace npu::cli {
namespace {

constexpr char kBetweenPrograms[] = ":::";

// "A 1 2 ::: B": the words of each.
tl::expected<std::vector<std::vector<std::string>>, Failure> programs_of(const Options& options) {
  std::vector<std::vector<std::string>> programs(1);
  for (const auto& word : options.arguments) {
    if (word == kBetweenPrograms) {
      programs.emplace_back();
    } else {
      programs.back().push_back(word);
    }
  }
  const bool empty = std::any_of(programs.begin(), programs.end(),
                                 [](const auto& words) { return words.empty(); });
  if (empty) return bad_input("exec: give a program behind --; several with ::: between them");
  return programs;
}

// "910b2.yaml" -> "Ascend910B2"; configurations of other names are a 910B.
std::string soc_name_of(const std::string& config) {
  std::string name = config.substr(config.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  const auto part = name.find('9');
  name = part == std::string::npos ? "910B" : name.substr(part);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "Ascend" + name;
}

// Where the libraries of this npusim are: libnpudrv's folder.
std::string library_directory() {
  Dl_info library{};
  const auto* const known = reinterpret_cast<const void*>(&driver::probe);
  if (::dladdr(known, &library) == 0 || library.dli_fname == nullptr) return {};
  std::error_code code;
  return std::filesystem::canonical(library.dli_fname, code).parent_path().string();
}

// In front of what the program's environment names: where this npusim's libraries are.
std::string library_path() {
  std::string path = library_directory();
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  if (before != nullptr && *before != 0) path += ":" + std::string(before);
  return path;
}

tl::expected<exec::ServerOptions, Failure> server_options(const Options& options,
                                                          const model::SystemConfig& config) {
  auto programs = programs_of(options);
  if (!programs) return tl::unexpected(programs.error());
  exec::ServerOptions server;
  server.programs = std::move(*programs);
  server.variables.emplace_back("LD_LIBRARY_PATH", library_path());
  if (const char* const measured = work_variable(config)) {
    server.variables.emplace_back(compat::kWorkVariable, measured);
  }
  server.timeout = std::chrono::milliseconds(config.programs.timeout / 1_ms);
  server.cards.assign(config.cards.size(), {soc_name_of(options.config)});
  auto sharing = read_sharing(options.shares, options.sharing, server.programs.size());
  if (!sharing) return tl::unexpected(sharing.error());
  server.sharing = std::move(*sharing);
  const bool tokens =
      std::any_of(server.sharing.begin(), server.sharing.end(),
                  [](const auto& client) { return client.share.token != driver::kWholeToken; });
  if (tokens && !config.driver.features.token_set_available) {
    return bad_input(
        "exec: --share: tokens are switched off (driver.features.token_set_available)");
  }
  server.driver.features = workloads::features_of(config.driver.features);
  server.driver.fault_warning_errors = config.driver.fault_warning_errors;
  server.driver.fault_warning_window = config.driver.fault_warning_window;
  server.tell = [](const std::string& line) {
    std::fputs(("npusim: warning: " + line + "\n").c_str(), stderr);
  };
  const auto& wanted = options.functions;
  if (auto read = read_functions(wanted, config, server.programs.size(), server); !read) {
    return tl::unexpected(read.error());
  }
  server.images = [](std::string_view name) { return workloads::program_image(name); };
  std::vector<operators::CardCores> cores;
  for (const auto& card : config.cards) cores.push_back(workloads::cores_of(card));
  server.operator_cores = [cores = std::move(cores)](std::uint32_t card) { return cores[card]; };
  return server;
}

Outcome check_races(const Options& options) {
  const auto& mode = options.races;
  if (!mode.empty() && mode != "report" && mode != "fail") {
    return bad_input("exec: --races: found '" + shortened(mode) + "'; allowed: report, fail");
  }
  if (mode.empty() || options.functions.empty()) return {};
  return bad_input("exec: --races does not see virtual functions (--vf)");
}

// Null: nobody is to ask.
tl::expected<std::unique_ptr<ExecMetrics>, Failure> open_metrics(const Options& options) {
  if (options.metrics.empty()) return std::unique_ptr<ExecMetrics>();
  auto server = MetricsServer::listen(options.metrics);
  if (!server) {
    return bad_input("--metrics " + shortened(options.metrics) + ": " + server.error().context);
  }
  const std::string line = "npusim: metrics on " + (*server)->place() + "\n";
  std::fputs(line.c_str(), stderr);
  return std::make_unique<ExecMetrics>(std::move(*server), options.metrics_prefix);
}

// What the first program that has failed ended with.
Outcome ending_of(const std::vector<exec::ProgramResult>& programs) {
  for (const auto& program : programs) {
    if (program.exit_code == 0) continue;
    return tl::unexpected(
        Failure{program.exit_code, fmt::format("exec: {} ({}) ended with {}", program.name,
                                               shortened(program.title), program.exit_code)});
  }
  return {};
}

// Of programs that will never be answered.
std::string calls_in(const std::function<exec::ServerSnapshot()>& snapshot) {
  std::string text;
  if (!snapshot) return text;
  for (const auto& call : snapshot().calls) {
    text += fmt::format("; {} is in {} since {:.6f} us", call.thread, call.call, call.began.us());
  }
  return text;
}

// The run was ended from outside, or goes no further.
Outcome end_of(const Error& error, const std::string& calls, const reports::Report& report) {
  const int signal = Interruption::signal();
  if (signal == 0) return failure("exec: " + error.message() + calls);
  constexpr int kSignalled = 128;
  return tl::unexpected(Failure{kSignalled + signal, "exec: interrupted by " + signal_name(signal) +
                                                         " after " + time_text(report.simulated) +
                                                         " simulated; the report is partial"});
}

// How it ended, for the report.
std::string text_of(const Outcome& ran) {
  if (ran) return reports::kComplete;
  return Interruption::signal() != 0 ? "interrupted" : "failed: " + ran.error().text;
}

// How programs ended.
struct Served {
  std::optional<Result<exec::ServerResult>> served;
  Status ran;
  std::string calls;  // that will never be answered
};

Outcome finish(const Served& all, const model::SystemConfig& config, const ExecRaces& races,
               Recording& recording, OptionFile& file, reports::Report& report) {
  if (all.served && !*all.served) {
    const auto& error = all.served->error();
    if (error.code == ErrorCode::kNotFound || error.code == ErrorCode::kInvalidArgument) {
      return bad_input("exec: " + error.context);
    }
    return failure("exec: " + error.message());
  }
  const bool over = all.ran && all.served;
  const Outcome ended =
      over ? Outcome{} : end_of(all.ran ? Error{} : all.ran.error(), all.calls, report);
  const Outcome sound = without_hazards(config, "exec", report);
  report.outcome = text_of(ended ? sound : ended);
  if (all.served) {
    add_programs(report, (*all.served)->programs, work_variable(config) != nullptr);
  }
  // What was not given back is known when all has ended.
  if (over) {
    report.add_metric("exec.memory_left_bytes", reports::Number::count((*all.served)->memory_left),
                      "B");
  }
  races.add_to(report);
  recording.complete(report, config);
  const Outcome recorded = recording.write(report);
  OptionFile no_page;
  const Outcome published = publish(file, no_page, report);
  if (!ended) return ended;
  if (!recorded) return recorded;
  if (!published) return published;
  if (auto well = ending_of((*all.served)->programs); !well) return well;
  if (!sound) return sound;
  return races.outcome();
}

Result<exec::ServerResult> serve(Machine& machine, const PlannedFaults& faults,
                                 const exec::ServerOptions& options) {
  const auto begun = faults.inject(machine.faults);
  if (!begun) return forward_error(begun);
  return exec::serve_programs(machine.platform, options);
}

// Who wants to hear of the machine while programs are waited for in wall time.
void attend_idle(Machine& machine, ExecMetrics* asked, gdb::Debugger* debugger,
                 exec::ServerOptions& options) {
  if (asked != nullptr) {
    machine.from_outside([&] { asked->watch_cards(machine.probed_cards()); });
  }
  if (asked == nullptr && debugger == nullptr) return;
  options.idle = [&machine, asked, debugger] {
    if (debugger != nullptr) debugger->look();
    if (asked != nullptr) machine.from_outside([&] { asked->answer(); });
  };
}

// The machine for programs whose work is measured: what they computed costs time.
void charge_work(const model::SystemConfig& config, Machine& machine,
                 exec::ServerOptions& options) {
  if (work_variable(config) == nullptr) return;
  options.charge_work = [&](std::uint64_t measured) {
    const auto time = time_of_work(config, measured);
    machine.charge(time);
    return time;
  };
}

}  // namespace

Outcome exec_programs(const Options& options, gdb::Debugger* debugger) {
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  if (auto measured = check_work(*config); !measured) return measured;
  auto server = server_options(options, *config);
  if (!server) return tl::unexpected(server.error());
  if (auto usable = check_races(options); !usable) return usable;
  ExecRaces races(options.races);
  server->races = races.detector();
  if (auto apart = check_files(options, nullptr, nullptr); !apart) return apart;
  const auto faults = PlannedFaults::parse(options, *config);
  if (!faults) return tl::unexpected(faults.error());
  auto file = OptionFile::open("--report", options.report);
  if (!file) return tl::unexpected(file.error());
  auto recording = Recording::open(options);
  if (!recording) return tl::unexpected(recording.error());
  if (auto done = write_config(options.config_out, *config); !done) return done;
  const auto metrics = open_metrics(options);
  if (!metrics) return tl::unexpected(metrics.error());
  auto* const asked = metrics->get();
  std::function<exec::ServerSnapshot()> snapshot;
  server->watched = [&](auto look) {
    snapshot = look;
    if (asked != nullptr) asked->watch_programs(std::move(look));
  };
  std::function<exec::ServerResult()> give_up;
  server->abandonable = [&](auto how) { give_up = std::move(how); };
  // From here on signals end the run with a report.
  ExecMonitor monitor(asked);
  server->interrupted = ExecMonitor::is_interrupted;
  auto report = workloads::begin_report("exec", options.config, *config, options.sets);
  std::optional<Result<exec::ServerResult>> served;
  std::string calls;  // that will never be answered
  const auto add_what_the_machine_did = [&](workloads::SimulatorView& simulator) {
    workloads::add_machine(report, simulator);
  };
  const Status ran = run_on_simulator(
      *config,
      [&](Machine& machine) {
        attend_idle(machine, asked, debugger, *server);
        charge_work(*config, machine, *server);
        races.watch(machine.system);
        // A signal may have come while gdb was waited for.
        if (Interruption::signal() == 0) served = serve(machine, *faults, *server);
        if (asked != nullptr) machine.from_outside([&] { asked->forget(); });
        machine.settle();
        faults->report(report, machine.faults);
        add_what_the_machine_did(machine.simulator);
      },
      {&*recording}, &monitor,
      [&](workloads::SimulatorView& simulator) {
        add_what_the_machine_did(simulator);
        calls = calls_in(snapshot);
        if (give_up) served = give_up();
      },
      debugger);
  return finish(Served{std::move(served), ran, std::move(calls)}, *config, races, *recording, *file,
                report);
}

}  // namespace npu::cli
