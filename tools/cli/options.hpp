// SPDX-License-Identifier: Apache-2.0
// The command line of npusim. Options may stand before or behind the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/failure.hpp"

namespace npu::cli {

// Of the command sweep.
struct SweepOptions {
  std::string jobs;             // --jobs; empty: not given
  std::string point;            // --point; empty: not given
  bool print_commands = false;  // --print-commands
  bool slurm = false;           // --slurm
  bool collect = false;         // --collect
};

// Of the command smi, as given; empty: not given.
struct SmiOptions {
  std::string type;           // --type
  std::string card;           // --card
  std::string vnpu_template;  // --template
  std::string vnpu;           // --vnpu
  std::string looks;          // --count
  bool json = false;          // --json
};

struct Options {
  std::string command;                    // empty with --help or --version alone
  std::vector<std::string> arguments;     // what follows the command
  std::string config;                     // --config; empty: not given
  std::vector<std::string> sets;          // --set, "key=value", in order
  std::string report;                     // --report; empty: not given
  std::string html;                       // --html; empty: not given
  std::string config_out;                 // --config-out; empty: not given
  std::string trace;                      // --trace; empty: not given
  std::string trace_window;               // --trace-window; empty: not given
  std::vector<std::string> trace_units;   // --trace-unit, in order
  std::vector<std::string> trace_causes;  // --trace-cause, in order
  std::string vcd;                        // --vcd; empty: not given
  std::vector<std::string> faults;        // --fault, in order
  std::string branches;                   // --branches; empty: not given
  std::optional<std::string> until;       // --until
  std::string save;                       // --save; empty: not given
  std::string resume;                     // --resume; empty: not given
  bool profile = false;                   // --profile
  bool watch = false;                     // --watch
  std::vector<std::string> sockets;       // --socket, in order
  std::string virtual_functions;          // --virtual-functions
  std::string ecam;                       // --ecam
  std::string pace;                       // --pace
  bool once = false;                      // --once
  bool live = false;                      // --live
  std::uint64_t seed = 1;                 // --seed
  bool seed_given = false;                // --seed
  unsigned verbosity = 0;                 // -v: 1, -vv: 2, -vvv: 3
  bool hex_dump = false;                  // -x
  bool names = false;                     // --names
  SweepOptions sweep;
  SmiOptions smi;
  std::string management;                 // --management; empty: not given
  std::string metrics;                    // --metrics; empty: not given
  std::string metrics_prefix = "npusim";  // --metrics-prefix

  // exec
  std::vector<std::string> shares;     // --share, in order
  std::vector<std::string> sharing;    // --sharing, in order
  std::vector<std::string> functions;  // --vf, in order
  std::string races;                   // --races; empty: not given

  // who
  std::optional<std::string> at;  // --at

  // gdb
  std::string listen;  // --listen; empty: not given
  bool stdio = false;  // --stdio

  // cc
  std::vector<std::string> includes;  // --include, in order
  std::vector<std::string> defines;   // --define, in order
  std::string kernel_type;            // --kernel-type; empty: not given
  bool host = false;                  // --host

  bool help = false;
  bool version = false;

  // report and compare
  std::string format;                   // --format; empty: not given
  std::string output;                   // --output; empty: standard output
  std::string junit;                    // --junit; empty: not given
  std::vector<std::string> thresholds;  // --threshold, in order
};

tl::expected<Options, Failure> parse_options(const std::vector<std::string>& arguments);

// `gdb exec -- PROGRAM`: programs, not a workload.
bool is_exec_under_gdb(const Options& options);

// Of the program (empty) or of one command.
std::string help_text(const std::string& command);

}  // namespace npu::cli
