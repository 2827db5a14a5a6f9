// SPDX-License-Identifier: Apache-2.0
// What the commands of npusim do. They print to standard output; a failure is printed by main().
#pragma once

#include "model/config/system_config.hpp"
#include "tools/cli/options.hpp"

namespace npu::gdb {
class Debugger;
}

namespace npu::cli {

class LastWriter;

// `debugger`: of the programs on the cards; null: there is none. `writer`: looks for who wrote a
// byte, which is printed instead of the report; null: nobody does.
Outcome run_workload(const Options& options, gdb::Debugger* debugger = nullptr,
                     LastWriter* writer = nullptr);
// An address and a workload are the arguments.
Outcome find_writer(const Options& options);
// A workload, or "exec" and programs, are the arguments.
Outcome debug(const Options& options);
// An ONNX file is the argument.
Outcome run_model(const Options& options);
// A source of kernels is the argument.
Outcome compile_kernels(const Options& options);
Outcome list_workloads(const Options& options);
Outcome list_registers(const Options& options);
Outcome list_operators(const Options& options);
Outcome list_pci(const Options& options);
Outcome serve(const Options& options);
// The programs are the arguments. `debugger`: as of run_workload().
Outcome exec_programs(const Options& options, gdb::Debugger* debugger = nullptr);
Outcome show_sysfs(const Options& options);
Outcome sweep_command(const Options& options);
Outcome validate_command(const Options& options);
Outcome config_command(const Options& options);
Outcome smi_command(const Options& options);
Outcome metrics_command(const Options& options);
Outcome probe_command(const Options& options);
Outcome completion_command(const Options& options);
Outcome show_report(const Options& options);
Outcome compare_reports(const Options& options);

// A workload with its parameters, as `npusim list` shows it.
tl::expected<std::string, Failure> describe_workload(const std::string& name);

// The configuration that --config names, with `overrides`.
tl::expected<model::SystemConfig, Failure> load_config(const std::string& name,
                                                       const std::vector<std::string>& overrides);

// Where the configurations are that came with this program: beside an installed one, or in the
// source tree that it was built in. Found from the program's own place in the file system.
std::vector<std::string> config_directories();

}  // namespace npu::cli
