// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "cli/commands.hpp"

namespace {

npu::cli::Outcome execute(const npu::cli::Options& options) {
  if (options.help) {
    std::fputs(npu::cli::help_text(options.command).c_str(), stdout);
    return {};
  }
  if (options.version) {
    std::puts("npusim " NPU_VERSION);
    return {};
  }
  if (options.command == "run") return run_workload(options);
  if (options.command == "list") return list_workloads(options);
  if (options.command == "lspci") return list_pci(options);
  if (options.command == "serve") return serve(options);
  if (options.command == "sysfs") return show_sysfs(options);
  return config_command(options);
}

int complain(const npu::cli::Failure& failure) {
  std::string line = "npusim: ";
  for (const char c : failure.text) line += c == '\n' || c == '\r' ? ' ' : c;
  std::fputs((line + "\n").c_str(), stderr);
  return failure.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = npu::cli::parse_options({argv + 1, argv + argc});
    if (!options) return complain(options.error());
    const auto outcome = execute(*options);
    return outcome ? 0 : complain(outcome.error());
  } catch (const std::exception& error) {
    return complain({npu::cli::kExitFailure, std::string("internal error: ") + error.what()});
  }
}
