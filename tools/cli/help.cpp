// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/option_table.hpp"
#include "tools/cli/options.hpp"

namespace npu::cli {
namespace {

const char* const kProgram =
    R"(npusim: a simulator of a PCIe NPU on which the real user-space driver runs

usage: npusim --config CONFIG run WORKLOAD [--set KEY=VALUE]... [--report FILE]
              [--html FILE] [--trace FILE] [--vcd FILE] [--profile] [--watch] [--seed N]
       npusim --config CONFIG gdb [--listen ADDRESS:PORT | --stdio] WORKLOAD [--set KEY=VALUE]...
       npusim --config CONFIG gdb [--listen ADDRESS:PORT | --stdio] exec -- PROGRAM [::: PROGRAM]...
       npusim [--config CONFIG] onnx FILE [--set KEY=VALUE]... [--report FILE] [--html FILE]
       npusim cc KERNEL.cpp [-o FILE] [-I DIR]... [-D NAME[=VALUE]]... [--kernel-type TYPE]
       npusim list [WORKLOAD]
       npusim sweep SWEEP.yaml [--output DIR] [--jobs N]
       npusim validate FILE.csv... [--set KEY=VALUE]... [--report FILE] [--html FILE]
       npusim --config CONFIG lspci [-v|-vvv|-x] [--set KEY=VALUE]...
       npusim --config CONFIG serve --socket PATH... [--pace fast|wall] [--once] [--report FILE]
              [--config-out FILE]
       npusim --config CONFIG exec [--set KEY=VALUE]... [--report FILE] -- PROGRAM [::: PROGRAM]...
       npusim --config CONFIG sysfs FOLDER [--live]
       npusim --config CONFIG | --socket PATH  smi [info|watch] [-t TYPE] [--json]
       npusim --config CONFIG | --socket PATH  metrics
       npusim --config CONFIG probe [--set KEY=VALUE]... [--output FILE]
       npusim report FILE [--format NAME] [--output FILE]
       npusim compare BASE NEW [--threshold METRIC=AMOUNT]... [--format NAME] [--junit FILE]
              [--output FILE]
       npusim config show|check [CONFIG] [--set KEY=VALUE]...
       npusim config keys
       npusim registers [PATTERN]
       npusim operators [PATTERN]
       npusim completion bash|zsh
       npusim help [COMMAND]
       npusim [COMMAND] --help | --version
       npusim run WORKLOAD --help

)";

const char* const kProgramTail =
    R"(CONFIG is a chip or system file: a path, or a name such as 910b2 that is looked up in the working
directory, in configs/ and among the configurations that come with npusim. 910b is the card of the
project's source documents (64 coupled cores), no shipping part; 910b2 is one.
Paths such as docs/sweeps.md and configs/keys.md are below share/doc/npusim of the installation.
Exit codes: 0 done; 1 the run failed, what it had to say could not be written, or compare found a
regression; 2 something is wrong with the command line, a parameter or a file; 3 compare found no
regression, but a change to look at; 130 (128 + the signal's number) Ctrl-C ended a run, whose report
says so.
)";

const char* const kRun =
    R"(usage: npusim --config CONFIG run WORKLOAD [--set KEY=VALUE]... [--report FILE]
              [--html FILE] [--config-out FILE] [--trace FILE] [--vcd FILE] [--trace-window FROM..TO]
              [--trace-unit PATTERN]... [--trace-cause CAUSE]... [--profile] [--watch] [--seed N]
              [--verbose]
       npusim --config CONFIG run WORKLOAD --branches FILE [--jobs N] [--set KEY=VALUE]... [--seed N]
       npusim --config CONFIG run WORKLOAD --until TIME --save FILE [--set KEY=VALUE]...
              [--fault KIND[,KEY=VALUE...]]... [--seed N]
       npusim run --resume FILE [--set KEY=VALUE]... [--fault KIND[,KEY=VALUE...]]... [--report FILE]
       npusim run WORKLOAD --help

Runs a workload (npusim list) on the simulated machine and prints its report. On standard error it
says how far it is: on a terminal a line that changes, after two seconds; elsewhere a line per tenth
of each part that takes more than ten. Ctrl-C (SIGINT, SIGTERM, SIGHUP) ends it with a report of what
is known by then, whose outcome is "interrupted", and exit code 128 + the signal's number; a second
one ends it at once. A run that fails writes what is known, too. FILE - is standard output.

)";

const char* const kWho =
    R"(usage: npusim --config CONFIG who [CARD:]ADDRESS WORKLOAD [--at TIME] [--set KEY=VALUE]...
              [--fault KIND[,KEY=VALUE...]]... [--seed N]

Runs a workload as `npusim run` does and says who wrote the byte at ADDRESS last, and when: a kernel,
with file and line of the instruction, its core and block; a copy or fill, with its command; an AICPU;
or the host. ADDRESS is one of a process, as hazards, faults and races name it, or counts from the
beginning of the card's memory. CARD is 0 if not given. The report is not printed. docs/races.md

)";

const char* const kGdb =
    R"(usage: npusim --config CONFIG gdb [--listen ADDRESS:PORT | --stdio] WORKLOAD [--set KEY=VALUE]...
              [--report FILE] [--html FILE] [--seed N]
       npusim --config CONFIG gdb [--listen ADDRESS:PORT | --stdio] exec [--set KEY=VALUE]...
              [--report FILE] -- PROGRAM [::: PROGRAM]...

Runs a workload as `npusim run` does, or programs as `npusim exec` does, with Debian's ordinary gdb
at the programs of the AI Cores and AICPUs: it waits for gdb before the run begins and says on standard error what to type there. A core
that runs a program is a thread of gdb. While gdb looks, all stands still and simulated time does not
pass. `monitor help` in gdb lists what npusim adds; docs/gdb.md shows a session. Whoever can connect
can read and write this process: the address is one of this machine. With --stdio the report,
and what programs print, goes to standard error.

)";

const char* const kOnnx =
    R"(usage: npusim [--config CONFIG] onnx FILE [--set KEY=VALUE]... [--report FILE] [--html FILE]
              [--trace FILE] [--seed N]

Runs a network from an ONNX file, as `npusim run network --set model=FILE` does; without --config on
a 910b2. Inputs and expected results come from test_data_set_0, test_data_set_1 and so on beside the
file; without them inputs are random by the seed, and no results are compared. docs/networks.md lists
the operators. Options are those of run.

)";

const char* const kCc =
    R"(usage: npusim cc KERNEL.cpp [-o FILE] [-I DIR]... [-D NAME[=VALUE]]... [--kernel-type TYPE]
              [--host]

Compiles kernels in AscendC into a file that aclrtBinaryLoadFromFile takes in programs that npusim
exec runs. Each function with __global__ is a kernel, found by its name. kernel_operator.h is there
without an option; docs/ascendc.md lists what it has. Prints each kernel with its cores and bytes.

)";

const char* const kList =
    R"(usage: npusim list [--names]
       npusim list WORKLOAD

Lists the workloads with what each does; of one, with the parameters that --set takes: name and
default, meaning, unit and range.

)";

const char* const kLspci =
    R"(usage: npusim --config CONFIG lspci [-v|-vvv|-x] [--set KEY=VALUE]...

Lists the PCI functions of the simulated machine, read through its configuration space.

)";

const char* const kExec =
    R"(usage: npusim --config CONFIG exec [--set KEY=VALUE]... [--report FILE] [--config-out FILE]
              [--trace FILE] [--vcd FILE] [--trace-window FROM..TO] [--trace-unit PATTERN]...
              [--trace-cause CAUSE]... [--profile] [--races[=report|fail]] [--vf [PROGRAM=]N[,TEMPLATE]]...
              -- PROGRAM [WORD]... [::: PROGRAM [WORD]...]...

Runs programs that call the C API (ACL, HAL) on the simulated machine, and prints a report. Each is a
process of its own that finds npusim's libraries in front of others. The exit code is that of the
first one that has failed. docs/running-your-program.md

)";

const char* const kServe =
    R"(usage: npusim --config CONFIG serve --socket PATH[=BB:DD.F]... | --ecam PATH
              [--management PATH] [--virtual-functions TEMPLATE,...]
              [--pace fast|wall] [--once] [--set KEY=VALUE]...
              [--report FILE] [--config-out FILE]

Serves the cards of the simulated machine to vfio-user clients, such as QEMU's vfio-user-pci, until
SIGINT or SIGTERM, and then prints a report. Times in it are simulated.

)";

const char* const kSweep =
    R"(usage: npusim sweep SWEEP.yaml [--output DIR] [--jobs N]
       npusim sweep SWEEP.yaml [--output DIR] --print-commands | --slurm | --point N | --collect

Runs a workload at every point of a grid of parameters, keys of the configuration, configurations
and seeds, each as a process. Everything in the file is checked before the first run starts.
Started again it keeps the reports that are there and runs the rest.

)";

const char* const kSweepTail =
    R"(Exit codes: 0 every point is done; 1 a point failed or was not run; 2 something is wrong with the
file, before anything has run, or it names a metric that no report has. docs/sweeps.md describes
the file and the results.
)";

const char* const kValidate =
    R"(usage: npusim validate FILE.csv... [--set KEY=VALUE]... [--report FILE] [--html FILE]
                       [--jobs N] [--output DIR]

Runs each row of published measurements on the configuration that its part names, and prints
measured time, predicted time and error: the farthest rows first, then by operator, then the rows
that cannot be run, with the reason. Columns of a file: id, sku, op, shape, dtype, metric, value,
unit, and if wanted attrs (JSON), l2 (cold, warm) and note.

)";

const char* const kValidateTail =
    R"(Exit codes: 0 all rows that npusim has an operator for ran; 1 one of them failed; 2 a file is wrong.
docs/validation.md describes the columns, the operators and the figures.
)";

const char* const kSysfs =
    R"(usage: npusim --config CONFIG sysfs FOLDER [--live] [--set KEY=VALUE]...

Shows the PCI functions of the simulated machine as Linux does in /sys/bus/pci, for unmodified tools:
  lspci  -A linux-sysfs -O sysfs.path=FOLDER -vvv
  setpci -A linux-sysfs -O sysfs.path=FOLDER -s 01:00.0 COMMAND=6

FOLDER gets a tree of files, in which setpci changes only the files.

)";

const char* const kReport =
    R"(usage: npusim report FILE [--format text|markdown|csv|html] [--output FILE]

Prints a report again that --report has written; FILE - is standard input.

)";

const char* const kCompare =
    R"(usage: npusim compare BASE NEW [--threshold METRIC=AMOUNT]... [--format text|markdown|json]
              [--junit FILE] [--output FILE]

Tells what is different in the report NEW from the report BASE of the same workload, worst first, and
which part of a breakdown or which counter it comes from. Exit code 1: a regression; 3: none, but fewer
of what is no gain by itself (barriers, looks at the card); 0: neither; 2: files or options that cannot
be compared.

)";

const char* const kCompareTail =
    R"(Without a threshold: accesses of the host (MMIO reads and writes, barriers, polls, interrupts,
configuration accesses, context switches), in all and per submission, may not grow at all; latencies,
times, bandwidths and shares of a ceiling may get worse by 1 %; what has no better or worse is listed
only. docs/reports.md has the table.
)";

const char* const kSmi =
    R"(usage: npusim smi [info] [-t TYPE] [-i ID] [--json]  --socket PATH | --config CONFIG
       npusim smi watch [-t TYPE] [-i ID] [--json] [--count N]  --socket PATH
       npusim smi create-vnpu -f NAME [-i ID] [--vnpu ID]  --socket PATH | --config CONFIG
       npusim smi destroy-vnpu --vnpu ID [-i ID]  --socket PATH | --config CONFIG

Shows how busy and how well cards are, by libnpudsmi: those of a running `npusim serve
--management PATH`, or those of a configuration as they are before anybody drives them. Looking takes
no simulated time and changes no report. Shares of a running machine are of the 0.2 s between two
looks, in time of the card. NA is what nothing models.

)";

const char* const kMetrics =
    R"(usage: npusim metrics --socket PATH | --config CONFIG

Prints the same for Prometheus, text format 0.0.4: npu_chip_info_* as npu-exporter names them, and
npusim_* in base units. What nothing models has no sample.

)";

const char* const kProbe =
    R"(usage: npusim --config CONFIG probe [--set KEY=VALUE]... [--output FILE]

Tries with the driver what the card can do for who shares it, prints it, and writes it with the
reasons why something cannot be done, as JSON, schema npusim.capabilities/1. docs/sharing.md says
what each entry means.

)";

const char* const kConfig =
    R"(usage: npusim config show|check [CONFIG] [--set KEY=VALUE]...
       npusim config keys

  show    print the resolved values as one YAML document with derived figures as comments
  check   read the configuration and report the first error
  keys    print every key with unit, range and meaning, in Markdown

CONFIG may also be given with --config.

)";

const char* const kRegisters =
    R"(usage: npusim registers [PATTERN]

Prints the registers of BAR0 and of the windows of streams, AI Cores and the control processor, as
driver, firmware and models are compiled with them: offset and size in bytes, access (RO, RW, or
RW1C: written ones clear), value after reset, name. Below it each field: bits, access, value after
reset, name, meaning; or, of a register without fields, the unit of its value. Other bits are
reserved. The model of a card may set a read-only register to another value after reset: CHIP_ID,
HBM_SIZE.
PATTERN is a name of a register in which * and ? stand for other characters, such as 'PARTITION_*';
upper and lower case are the same.
)";

const char* const kOperators =
    R"(usage: npusim operators [PATTERN]

Lists the operators that are compiled on demand (npusim run operator) with their sides: those that
npusim brings along, and those of the folders in NPUSIM_OPERATORS_PATH. With a PATTERN, a name in
which * and ? stand for other characters, it prints of each: sides, inputs and results with their
shapes, source, kind of cores.
)";

const char* const kCompletion =
    R"(usage: npusim completion bash|zsh

Prints the script with which the shell completes commands, options, workloads, parameters, keys,
values and files. Where npusim is installed into the usual places, shells find it by themselves;
otherwise:

  bash   source <(npusim completion bash)
  zsh    source <(npusim completion zsh)      (behind compinit)
)";

}  // namespace

std::string help_text(const std::string& command) {
  const std::string options = options_help(command);
  if (command == "run") return kRun + options;
  if (command == "list") return kList + options;
  if (command == "lspci") return kLspci + options;
  if (command == "serve") return kServe + options;
  if (command == "gdb") return kGdb + options;
  if (command == "who") return kWho + options;
  if (command == "onnx") return kOnnx + options;
  if (command == "cc") return kCc + options;
  if (command == "exec") return kExec + options;
  if (command == "sweep") return kSweep + options + "\n" + kSweepTail;
  if (command == "validate") return kValidate + options + "\n" + kValidateTail;
  if (command == "sysfs") return kSysfs + options;
  if (command == "smi") return kSmi + options;
  if (command == "metrics") return kMetrics + options;
  if (command == "probe") return kProbe + options;
  if (command == "report") return kReport + options;
  if (command == "compare") return kCompare + options + "\n" + kCompareTail;
  if (command == "config") return kConfig + options;
  if (command == "registers") return kRegisters;
  if (command == "operators") return kOperators;
  if (command == "completion") return kCompletion;
  return kProgram + commands_help() + "\n" + kProgramTail;
}

}  // namespace npu::cli
