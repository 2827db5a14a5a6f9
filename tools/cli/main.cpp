// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/output.hpp"

namespace {

npu::cli::Outcome print_help(const npu::cli::Options& options) {
  const std::string text = npu::cli::help_text(options.command);
  if (options.command != "run" || options.arguments.empty()) return npu::cli::print(text);
  const auto workload = npu::cli::describe_workload(options.arguments[0]);
  if (!workload) return tl::unexpected(workload.error());
  return npu::cli::print(text + "\n" + *workload);
}

npu::cli::Outcome execute(const npu::cli::Options& options) {
  if (options.help) {
    return print_help(options);
  }
  if (options.version) {
    return npu::cli::print("npusim " NPU_VERSION "\n");
  }
  if (options.command == "run") return run_workload(options);
  if (options.command == "who") return find_writer(options);
  if (options.command == "gdb") return debug(options);
  if (options.command == "onnx") return run_model(options);
  if (options.command == "cc") return compile_kernels(options);
  if (options.command == "list") return list_workloads(options);
  if (options.command == "registers") return list_registers(options);
  if (options.command == "operators") return list_operators(options);
  if (options.command == "lspci") return list_pci(options);
  if (options.command == "serve") return serve(options);
  if (options.command == "exec") return exec_programs(options);
  if (options.command == "report") return show_report(options);
  if (options.command == "compare") return compare_reports(options);
  if (options.command == "sweep") return sweep_command(options);
  if (options.command == "validate") return validate_command(options);
  if (options.command == "smi") return smi_command(options);
  if (options.command == "metrics") return metrics_command(options);
  if (options.command == "probe") return probe_command(options);
  if (options.command == "sysfs") return show_sysfs(options);
  if (options.command == "completion") return completion_command(options);
  return config_command(options);
}

int complain(const npu::cli::Failure& failure) {
  constexpr std::size_t kLongestLine = 4000;  // whoever quotes something has shortened it before
  const std::string line = "npusim: " + npu::shortened(failure.text, kLongestLine) + "\n";
  std::fputs(line.c_str(), stderr);
  return failure.exit_code;
}

constexpr char kNoMemory[] = "this machine gives the process no ";

// The kernel wraps what comes out of its threads: of that the sentence about memory.
bool tells_of_memory(const std::string& text) {
  return text.find(kNoMemory) != std::string::npos ||
         text.find("std::bad_alloc") != std::string::npos;
}

npu::cli::Failure out_of_memory(const std::string& text) {
  const auto begin = text.find(kNoMemory);
  if (begin == std::string::npos) {
    return {npu::cli::kExitBadInput, std::string(kNoMemory) + "more memory (ulimit -v, ulimit -d)"};
  }
  return {npu::cli::kExitBadInput, text.substr(begin, text.find(')', begin) - begin + 1)};
}

// Where no exception may pass: a run that finds no more memory in a destructor or in a thread of
// the kernel's ends here.
[[noreturn]] void end_without_memory() {
  npu::cli::Interruption::say_last_words();
  try {
    if (const auto current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::bad_alloc& error) {
    std::_Exit(complain(out_of_memory(error.what())));
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  npu::cli::hold_standard_descriptors();
  std::set_terminate(end_without_memory);
  try {
    const auto options = npu::cli::parse_options({argv + 1, argv + argc});
    if (!options) return complain(options.error());
    const auto outcome = execute(*options);
    if (outcome) return 0;
    const int code = complain(outcome.error());
    // Nothing can be asked of tasks of a machine that was stopped.
    if (code > npu::cli::kExitLook || outcome.error().stopped) std::_Exit(code);
    return code;
  } catch (const std::exception& error) {
    if (tells_of_memory(error.what())) return complain(out_of_memory(error.what()));
    return complain({npu::cli::kExitFailure, std::string("internal error: ") + error.what()});
  }
}
