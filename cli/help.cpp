// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

namespace npu::cli {
namespace {

const char* const kProgram =
    R"(npusim: a simulator of a PCIe NPU on which the real user-space driver runs

usage: npusim --config CONFIG run WORKLOAD [--set KEY=VALUE]... [--report FILE]
              [--html FILE] [--config-out FILE] [--seed N] [--profile]
              [--trace FILE] [--vcd FILE] [--trace-window FROM..TO]
              [--trace-unit PATTERN]... [--trace-cause CAUSE]...
       npusim list
       npusim sweep SWEEP.yaml [--output DIR] [--jobs N]
       npusim --config CONFIG lspci [-v|-vvv|-x] [--set KEY=VALUE]...
       npusim --config CONFIG serve --socket PATH... [--pace fast|wall] [--once] [--report FILE]
              [--config-out FILE]
       npusim --config CONFIG sysfs FOLDER [--live]
       npusim report FILE [--format NAME] [--output FILE]
       npusim compare BASE NEW [--threshold METRIC=AMOUNT]... [--format NAME] [--junit FILE]
              [--output FILE]
       npusim config show|check [CONFIG] [--set KEY=VALUE]...
       npusim config keys
       npusim [COMMAND] --help | --version
       npusim run WORKLOAD --help

CONFIG is a chip or system file: a path, or a name such as 910b that is looked up in the working
directory, in configs/ and among the configurations that come with npusim. 910b is the card of the
project's source documents (64 coupled cores), no shipping part; 910b2 is one.
Exit codes: 0 done; 1 the run failed, what it had to say could not be written, or compare found a
regression; 2 something is wrong with the command line, a parameter or a file.
)";

const char* const kRun =
    R"(usage: npusim --config CONFIG run WORKLOAD [--set KEY=VALUE]... [--report FILE]
              [--html FILE] [--config-out FILE] [--seed N] [--verbose] [--profile]
              [--trace FILE] [--vcd FILE] [--trace-window FROM..TO]
              [--trace-unit PATTERN]... [--trace-cause CAUSE]...
       npusim run WORKLOAD --help

Runs a workload (npusim list) on the simulated machine and prints its report.

  --config CONFIG   chip or system file, path or name
  --set KEY=VALUE   a parameter of the workload, or else a key of the configuration
                    (npusim config keys); may be repeated
  --report FILE     write the report as JSON, schema npusim.report/3; whole, or not at all
  --html FILE       write the report as one page with plots, for any browser, without a network
  --config-out FILE write the resolved configuration as YAML; its SHA-256 is in the report
  --seed N          of the workload's random numbers, default 1
  --profile         add to the report how busy each unit was over time, how long each activity took,
                    what device memory was used for, and what the run waited for (--html does so
                    anyway)
  --trace FILE      write a timeline, for https://ui.perfetto.dev or chrome://tracing; FILE.gz:
                    compressed. docs/timeline.md says what is in it
  --vcd FILE        write when units were busy, for wave viewers
  --trace-window FROM..TO
                    of timeline and VCD: simulated times, such as 10us..2.5ms, ..1ms or 3ms..
  --trace-unit PATTERN
                    of both: units, slices or categories, * for any text, such as
                    'card0.dma*', tlp or aicore; may be repeated
  --trace-cause CAUSE
                    of both: what was done for a request, such as dma0:17, queue0.3:5 or task0.2:9; may be repeated
  --verbose, -v     say at the end, on standard error, how fast the simulator was; on a terminal
                    it does so anyway
)";

const char* const kList =
    R"(usage: npusim list [WORKLOAD]

Lists the workloads with their parameters, defaults, units and ranges.
)";

const char* const kLspci =
    R"(usage: npusim --config CONFIG lspci [-v|-vvv|-x] [--set KEY=VALUE]...

Lists the PCI functions of the simulated machine, read through its configuration space.

  -v     BARs with sizes, NUMA node, capabilities by name
  -vvv   their fields too: link, MSI-X, AER, SR-IOV
  -x     all 4096 bytes of each function, as pciutils' `lspci -F FILE` reads them
)";

const char* const kServe =
    R"(usage: npusim --config CONFIG serve --socket PATH[=BB:DD.F]... | --ecam PATH
              [--pace fast|wall] [--once] [--set KEY=VALUE]... [--report FILE]
              [--config-out FILE]

Serves the cards of the simulated machine to vfio-user clients, such as QEMU's vfio-user-pci, until
SIGINT or SIGTERM, and then prints a report. Times in it are simulated.

  --socket PATH     listen there for a client of the next card's function 0, or of the function
                    that is named; may be repeated
  --ecam PATH       listen there for a client of the whole PCI hierarchy behind one function,
                    whose driver is guest/ecam: for SR-IOV, which QEMU hides
  --pace fast       simulated time goes on as far as there is work, and as fast as possible (default)
  --pace wall       simulated time is held to wall time
  --once            end when the last client has left
  --report FILE     write the report as JSON, schema npusim.report/3
  --config-out FILE write the resolved configuration as YAML; its SHA-256 is in the report
)";

const char* const kSweep =
    R"(usage: npusim sweep SWEEP.yaml [--output DIR] [--jobs N]
       npusim sweep SWEEP.yaml [--output DIR] --print-commands | --slurm | --point N | --collect

Runs a workload at every point of a grid of parameters, keys of the configuration, configurations
and seeds, each as a process. Everything in the file is checked before the first run starts.
Started again it keeps the reports that are there and runs the rest.

  --output DIR      results: points/NAME/report.json and log for each point; sweep.csv, sweep.json
                    and the page sweep.html; if not given, a folder beside SWEEP.yaml with the
                    sweep's name
  --jobs N          runs at a time; if not given, one for each processor
  --print-commands  print a command for each point that is still to run: ... | parallel
  --slurm           print a batch script with an array for these points: ... | sbatch
  --point N         run this point only, as those commands do; a point that is done stays as it is
  --collect         make table and page of the reports that are there

Exit codes: 0 every point is done; 1 a point failed or was not run; 2 something is wrong with the
file, before anything has run, or it names a metric that no report has. docs/sweeps.md describes
the file and the results.
)";

const char* const kSysfs =
    R"(usage: npusim --config CONFIG sysfs FOLDER [--live] [--set KEY=VALUE]...

Shows the PCI functions of the simulated machine as Linux does in /sys/bus/pci, for unmodified tools:
  lspci  -A linux-sysfs -O sysfs.path=FOLDER -vvv
  setpci -A linux-sysfs -O sysfs.path=FOLDER -s 01:00.0 COMMAND=6

  FOLDER    gets a tree of files, in which setpci changes only the files
  --live    FOLDER, which exists and is empty, is a mount point (FUSE) until SIGINT, SIGTERM or
            umount: reads and writes reach the models, virtual functions come and go
)";

const char* const kReport =
    R"(usage: npusim report FILE [--format text|markdown|csv|html] [--output FILE]

Prints a report again that --report has written; FILE - is standard input.

  --format text     what the run printed, byte by byte (default)
  --format markdown the same as tables of Markdown, and besides it parameters, metrics, counters
  --format csv      a row per metric and counter: workload,config,seed,kind,name,value,unit
  --format html     one page with plots, for any browser, without a network
  --output FILE     write there instead of to standard output
)";

const char* const kCompare =
    R"(usage: npusim compare BASE NEW [--threshold METRIC=AMOUNT]... [--format text|markdown|json]
              [--junit FILE] [--output FILE]

Tells what is different in the report NEW from the report BASE of the same workload, worst first, and
which part of a breakdown or which counter it comes from. Exit code 1: a regression, 0: none, 2: files
or options that cannot be compared.

  --threshold METRIC=AMOUNT
                    how much worse a metric or counter may get: 2%, or 10 in its own unit; * in the
                    name stands for any text; may be repeated, the last that fits counts
  --format NAME     text (default), markdown or json
  --junit FILE      write a test case per metric that changed or has a threshold, as JUnit's XML
  --output FILE     write the comparison there instead of to standard output

Without a threshold: accesses of the host (MMIO reads and writes, barriers, polls, interrupts,
configuration accesses, context switches), in all and per submission, may not grow at all; latencies,
times, bandwidths and shares of a ceiling may get worse by 1 %; what has no better or worse is listed
only. docs/reports.md has the table.
)";

const char* const kConfig =
    R"(usage: npusim config show|check [CONFIG] [--set KEY=VALUE]...
       npusim config keys

  show    print the resolved values as one YAML document with derived figures as comments
  check   read the configuration and report the first error
  keys    print every key with unit, range and meaning, in Markdown

CONFIG may also be given with --config.
)";

}  // namespace

std::string help_text(const std::string& command) {
  if (command == "run") return kRun;
  if (command == "list") return kList;
  if (command == "lspci") return kLspci;
  if (command == "serve") return kServe;
  if (command == "sweep") return kSweep;
  if (command == "sysfs") return kSysfs;
  if (command == "report") return kReport;
  if (command == "compare") return kCompare;
  if (command == "config") return kConfig;
  return kProgram;
}

}  // namespace npu::cli
