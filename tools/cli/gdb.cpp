// SPDX-License-Identifier: Apache-2.0
// `npusim gdb WORKLOAD` and `npusim gdb exec -- PROGRAM`: run and exec, with gdb at the programs of
// the cards' cores.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "machine/gdb/debugger.hpp"
#include "npu/base/temporary_folder.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/output.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::cli {
namespace {

constexpr char kDefaultAddress[] = "127.0.0.1:2331";

// gdb is at standard input and output; what npusim prints goes to standard error.
std::unique_ptr<gdb::Debugger> at_standard_streams(const gdb::Debugger::Surroundings& around) {
  const int in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::close(nothing);
  return gdb::Debugger::at(in, out, around);
}

// Nobody is asked to connect for a name that is none.
Outcome check_what_runs(const Options& options) {
  if (options.arguments.empty()) {
    return bad_input("gdb: give a workload (npusim list), or exec -- PROGRAM");
  }
  if (is_exec_under_gdb(options)) {
    if (options.arguments.size() < 2) return bad_input("gdb: give a program behind exec --");
    // Where PATH has others, exec looks for them.
    const auto& program = options.arguments[1];
    const bool is_path = program.find('/') != std::string::npos;
    if (!is_path || ::access(program.c_str(), X_OK) == 0) return {};
    return bad_input("exec: " + program + ": " + std::strerror(errno));
  }
  const auto known = workloads::all_workloads().find(options.arguments[0]);
  return known ? Outcome{} : bad_input(known.error().context);
}

}  // namespace

Outcome debug(const Options& options) {
  if (auto known = check_what_runs(options); !known) return known;
  if (options.stdio && !options.listen.empty()) {
    return bad_input("gdb: --stdio and --listen are two ways to one gdb");
  }
  const auto folder = TemporaryFolder::make();
  if (!folder) return failure("gdb: " + folder.error().context);
  Interruption::take_signals();  // before anybody is told that it waits
  const gdb::Debugger::Surroundings around{folder->path(), Interruption::raised(),
                                           [] { return Interruption::signal() != 0; }};
  std::unique_ptr<gdb::Debugger> debugger;
  if (options.stdio) {
    debugger = at_standard_streams(around);
  } else {
    auto listening =
        gdb::Debugger::listen(options.listen.empty() ? kDefaultAddress : options.listen, around);
    if (!listening) return bad_input("--listen: " + listening.error().context);
    debugger = std::move(*listening);
    const std::string line =
        "npusim: waits for gdb; type there: target remote " + debugger->address() + "\n";
    std::fputs(line.c_str(), stderr);
  }
  Options run = options;
  const bool programs = is_exec_under_gdb(options);
  run.command = programs ? "exec" : "run";
  if (programs) run.arguments.erase(run.arguments.begin());
  const Outcome ran =
      programs ? exec_programs(run, debugger.get()) : run_workload(run, debugger.get());
  debugger->ended(ran ? 0 : ran.error().exit_code);
  return ran;
}

}  // namespace npu::cli
