// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/option_table.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

namespace npu::cli {
namespace {

constexpr CommandRow kCommands[] = {
    {"run", Value::kWorkload, "run a workload on the simulated machine and print its report"},
    {"gdb", Value::kWorkload,
     "run a workload, or programs (gdb exec), with gdb at the programs of the cards' cores"},
    {"who", Value::kWorkload, "run a workload and say who wrote a byte of a card's memory last"},
    {"onnx", Value::kInputFile,
     "run a network from an ONNX file, on a 910b2 unless told otherwise"},
    {"cc", Value::kInputFile, "compile kernels in AscendC for programs that exec runs"},
    {"list", Value::kWorkload, "list the workloads, or one with its parameters"},
    {"report", Value::kInputFile, "print a report again: as text, Markdown, CSV or a page"},
    {"compare", Value::kInputFile, "tell what is different in a report, and whether it is worse"},
    {"sweep", Value::kSweepFile, "run a workload at every point of a grid of parameters"},
    {"validate", Value::kInputFile, "compare published durations of kernels with npusim's"},
    {"lspci", Value::kNone, "list the PCI functions of the simulated machine"},
    {"serve", Value::kNone, "serve the cards to vfio-user clients, such as QEMU"},
    {"exec", Value::kInputFile, "run programs that call the C API (ACL) on the simulated machine"},
    {"sysfs", Value::kFolder, "show the PCI functions as Linux does in /sys/bus/pci"},
    {"smi", Value::kSmiAction, "show how busy and how well the cards of a running npusim are"},
    {"metrics", Value::kNone, "print the same for Prometheus, text format 0.0.4"},
    {"probe", Value::kNone, "try what the card and its driver can do for who shares them"},
    {"config", Value::kConfigAction, "show or check a configuration, or list its keys"},
    {"registers", Value::kRegister, "list the registers and their bits"},
    {"operators", Value::kOperator, "list the operators that are compiled on demand"},
    {"completion", Value::kShell, "print the script that completes npusim's command line"},
    {"help", Value::kCommand, "print help on the program or a command, as --help does"},
};

constexpr OptionRow kOptions[] = {
    {"config", 0, Value::kConfiguration, false, "CONFIG",
     "run gdb who onnx lspci serve exec sysfs smi metrics probe config",
     "chip or system file, a path or a name"},
    {"set", 0, Value::kAssignment, true, "KEY=VALUE", "run gdb who onnx",
     "a parameter of the workload, or else a key of the configuration (npusim config keys); may "
     "be repeated"},
    {"set", 0, Value::kAssignment, true, "KEY=VALUE",
     "lspci serve exec sysfs smi metrics probe config",
     "a key of the configuration (npusim config keys); may be repeated"},
    {"set", 0, Value::kAssignment, true, "KEY=VALUE", "validate",
     "a key of the configuration of every row's part; may be repeated"},
    {"report", 0, Value::kOutputFile, false, "FILE", "run gdb onnx serve exec validate",
     "write the report as JSON, schema npusim.report/3; whole, or not at all"},
    {"share", 0, Value::kText, true, "PROGRAM=WORDS", "exec gdb",
     "what a program may have of the cards: p0=30 (percent of the cores' time), or several words, "
     "such as p1=70,token=65535,memory=4GiB; may be repeated"},
    {"sharing", 0, Value::kText, true, "KEY=VALUE", "exec gdb",
     "how cores are shared in time: policy, window_us and the other keys of docs/sharing.md; may "
     "be repeated"},
    {"vf", 0, Value::kText, true, "[PROGRAM=]N", "exec gdb",
     "the program's device is virtual function N of the first card: p0=2, or 2 for all programs; "
     "2,TEMPLATE says what it has of the card (npusim smi -t template-info), else as the first "
     "template; may be repeated"},
    {"races", 0, Value::kMode, false, "report|fail", "exec gdb",
     "find accesses of programs to the same bytes that nothing orders, and say where both are; "
     "--races=fail: the exit code is 1 if there are some. docs/races.md says what is seen"},
    {"fault", 0, Value::kText, true, "KIND[,KEY=VALUE...]", "run gdb who onnx exec",
     "a fault of a card, such as link_down,at=20us,for=5us or lost_interrupt,vector=3; "
     "docs/faults.md "
     "lists kinds and keys; may be repeated"},
    {"html", 0, Value::kOutputFile, false, "FILE", "run gdb onnx validate",
     "write the report as one page with plots, for any browser, without a network"},
    {"config-out", 0, Value::kOutputFile, false, "FILE", "run gdb onnx serve exec",
     "write the resolved configuration as YAML; its SHA-256 is in the report"},
    {"trace", 0, Value::kOutputFile, false, "FILE", "run onnx serve exec",
     "write a timeline, for https://ui.perfetto.dev or chrome://tracing; FILE.gz: compressed. "
     "docs/timeline.md says what is in it"},
    {"vcd", 0, Value::kOutputFile, false, "FILE", "run onnx serve exec",
     "write when units were busy, for wave viewers"},
    {"trace-window", 0, Value::kText, false, "FROM..TO", "run onnx serve exec",
     "of --trace and --vcd: simulated times, such as 10us..2.5ms, ..1ms or 3ms.."},
    {"trace-unit", 0, Value::kText, true, "PATTERN", "run onnx serve exec",
     "of --trace and --vcd: units, activities or categories, such as 'card0.dma*', tlp, aicore; "
     "may be repeated"},
    {"trace-cause", 0, Value::kText, true, "CAUSE", "run onnx serve exec",
     "of --trace and --vcd: what was done for a request, such as dma0:17, queue0.3:5 or task0.2:9; "
     "may be "
     "repeated"},
    {"profile", 0, Value::kNone, false, "", "run onnx",
     "add to the report how busy each unit was over time, how long each activity took, what device "
     "memory was used for, and what the run waited for (--html does so anyway)"},
    {"profile", 0, Value::kNone, false, "", "serve exec",
     "add to the report how busy each unit was over time and how long each activity took"},
    {"watch", 0, Value::kNone, false, "", "run onnx",
     "show on the terminal, while it runs, what the machine does"},
    {"at", 0, Value::kText, false, "TIME", "who",
     "a simulated time, such as 2.5ms: later writes do not count"},
    {"seed", 0, Value::kNumber, false, "N", "run gdb who onnx",
     "of the workload's random numbers, default 1"},
    {"listen", 0, Value::kText, false, "ADDRESS:PORT", "gdb",
     "wait for gdb there, 127.0.0.1:2331 if not given; port 0 is a free one"},
    {"stdio", 0, Value::kNone, false, "", "gdb",
     "gdb is at standard input and output: target remote | npusim gdb --stdio ..."},
    {"names", 0, Value::kNone, false, "", "list", "the names alone, one a line"},
    {"format", 0, Value::kChoice, false, "text|markdown|csv|html", "report",
     "text: what the run printed, byte by byte (default); markdown: the same as tables, and "
     "besides it parameters, metrics, counters; csv: a row per metric and counter; html: one "
     "page "
     "with plots"},
    {"format", 0, Value::kChoice, false, "text|markdown|json", "compare", "default: text"},
    {"output", 'o', Value::kOutputFile, false, "FILE", "cc",
     "the file of kernels; without it KERNEL.o in the working directory"},
    {"include", 'I', Value::kText, true, "DIR", "cc",
     "look for headers there, too; may be repeated"},
    {"define", 'D', Value::kText, true, "NAME[=VALUE]", "cc", "a macro; may be repeated"},
    {"host", 0, Value::kNone, false, "", "cc",
     "make an object to link to a program instead: the functions of the source, which launch "
     "kernels "
     "by <<<>>>, and its kernels"},
    {"kernel-type", 0, Value::kChoice, false, "aiv|aic|mix", "cc",
     "the cores of all kernels, whatever the source says: vector cores, cube cores, or a cube core "
     "with its vector cores"},
    {"output", 0, Value::kOutputFile, false, "FILE", "report compare",
     "write there instead of to standard output"},
    {"output", 0, Value::kOutputFile, false, "FILE", "probe",
     "write the matrix there instead of to capability_matrix.json"},
    {"output", 0, Value::kFolder, false, "DIR", "sweep",
     "results: points/NAME/report.json and log for each point, sweep.csv, sweep.json and the page "
     "sweep.html; if not "
     "given, a folder beside SWEEP.yaml with the sweep's name"},
    {"output", 0, Value::kFolder, false, "DIR", "validate",
     "keep the runs there; what is there already is not run again"},
    {"threshold", 0, Value::kText, true, "METRIC=AMOUNT", "compare",
     "how much worse a metric or counter may get: 2%, or 10 in its own unit; * in the name "
     "stands "
     "for any text; may be repeated, the last that fits counts"},
    {"junit", 0, Value::kOutputFile, false, "FILE", "compare",
     "write a test case per metric that changed or has a threshold, as JUnit's XML"},
    {"jobs", 0, Value::kNumber, false, "N", "sweep validate",
     "runs at a time; if not given, one for each processor"},
    {"jobs", 0, Value::kNumber, false, "N", "run",
     "of --branches: branches at a time; if not given, one for each processor"},
    {"branches", 0, Value::kInputFile, false, "FILE", "run",
     "runs that differ in parameters alone and share their beginning, as sweep starts them; "
     "docs/sweeps.md says what is in FILE"},
    {"until", 0, Value::kText, false, "TIME", "run",
     "of --save: a simulated time, such as 2.5ms, at which the run ends"},
    {"save", 0, Value::kOutputFile, false, "FILE", "run",
     "write at --until which run it is and what it has come to; docs/resuming.md"},
    {"resume", 0, Value::kInputFile, false, "FILE", "run",
     "go on from what --save has written: the beginning is run again and compared; --set may give "
     "other values to parameters that are read later, and --fault has faults that happen later"},
    {"point", 0, Value::kNumber, false, "N", "sweep",
     "run this point only, as those commands do; a point that is done stays as it is"},
    {"print-commands", 0, Value::kNone, false, "", "sweep",
     "print a command for each point that is still to run: ... | parallel"},
    {"slurm", 0, Value::kNone, false, "", "sweep",
     "print a batch script with an array for these points: ... | sbatch"},
    {"collect", 0, Value::kNone, false, "", "sweep",
     "make table and page of the reports that are there"},
    {"socket", 0, Value::kInputFile, true, "PATH[=BB:DD.F]", "serve",
     "listen there for a client of the next card's function 0, or of the function that is named; "
     "may be repeated"},
    {"socket", 0, Value::kInputFile, true, "PATH", "smi metrics",
     "the management socket of a running npusim (serve --management); without it the cards of "
     "--config are made to be looked at"},
    {"management", 0, Value::kInputFile, false, "PATH", "serve",
     "listen there for npusim smi, npusim metrics and programs with libnpudsmi"},
    {"metrics", 0, Value::kText, false, "SOCKET", "exec serve",
     "answer GET /metrics there, for Prometheus: the path of a socket, or 127.0.0.1:PORT"},
    {"metrics-prefix", 0, Value::kText, false, "PREFIX", "exec serve metrics",
     "what the names of npusim's own metrics begin with instead of npusim, such as xpushare_npu"},
    {"type", 't', Value::kChoice, false, "usages|memory|ecc|pcie|template-info|info-vnpu", "smi",
     "what of each card; if not given, a table of all"},
    {"card", 'i', Value::kNumber, false, "ID", "smi", "this card alone; of virtual devices, 0"},
    {"template", 'f', Value::kText, false, "NAME", "smi", "of create-vnpu, such as vir06_1c_16g"},
    {"vnpu", 0, Value::kNumber, false, "ID", "smi",
     "of destroy-vnpu, 65535: all of the card; of create-vnpu, if the card is not to choose"},
    {"json", 0, Value::kNone, false, "", "smi", "all that is known, as JSON, schema npusim.smi/1"},
    {"count", 0, Value::kNumber, false, "N", "smi",
     "of watch: so many looks, a second apart; if not given, until Ctrl-C"},
    {"virtual-functions", 0, Value::kText, false, "TEMPLATE,...", "serve",
     "divide the first card: a virtual function with a device by each of these templates; --socket "
     "names them as BB:DD.F"},
    {"ecam", 0, Value::kInputFile, false, "PATH", "serve",
     "listen there for a client of the whole PCI hierarchy behind one function, whose driver is "
     "tests/guest/ecam of npusim's source: for SR-IOV, which QEMU hides"},
    {"pace", 0, Value::kChoice, false, "fast|wall", "serve",
     "fast: simulated time goes on as far as there is work, and as fast as possible (default); "
     "wall: it is held to wall time"},
    {"once", 0, Value::kNone, false, "", "serve", "end when the last client has left"},
    {"live", 0, Value::kNone, false, "", "sysfs",
     "FOLDER, which exists and is empty, is a mount point (FUSE) until SIGINT, SIGTERM or "
     "umount: "
     "reads and writes reach the models, virtual functions come and go"},
    {"verbose", 'v', Value::kRepeatable, false, "", "lspci",
     "BARs with sizes, NUMA node, capabilities by name; -vvv: their fields too: link, MSI-X, "
     "AER, "
     "SR-IOV"},
    {"verbose", 'v', Value::kRepeatable, false, "", "run onnx",
     "say at the end, on standard error, how fast the simulator was; on a terminal it does so "
     "anyway"},
    {"hex", 'x', Value::kNone, false, "", "lspci",
     "all 4096 bytes of each function, as pciutils' `lspci -F FILE` reads them"},
    {"help", 'h', Value::kNone, false, "", "", "print help on the program or the command"},
    {"version", 'V', Value::kNone, false, "", "", "print the version"},
};

constexpr std::size_t kLineWidth = 100;

std::vector<std::string> split(std::string_view text, char at) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

std::string label_of(const OptionRow& option) {
  if (option.kind == Value::kRepeatable) return std::string("-") + option.letter;
  std::string label = "--" + std::string(option.name);
  if (option.letter != 0) label += std::string(", -") + option.letter;
  if (option.kind == Value::kMode) return label + "[=" + std::string(option.value) + "]";
  return option.value.empty() ? label : label + " " + std::string(option.value);
}

// Labels in a column, texts beside them, wrapped.
std::string columns(const std::vector<std::pair<std::string, std::string_view>>& rows) {
  constexpr std::size_t kWidest = 22;
  std::size_t width = 0;
  for (const auto& [label, text] : rows) {
    if (label.size() <= kWidest) width = std::max(width, label.size());
  }
  const std::string indent(width + 4, ' ');
  std::string all;
  for (const auto& [label, text] : rows) {
    std::string line = "  " + label;
    if (label.size() > width) {
      all += line + "\n";
      line = indent;
    } else {
      line.resize(indent.size(), ' ');
    }
    std::size_t begin = line.size();
    for (const auto& word : split(text, ' ')) {
      if (line.size() > begin && line.size() + 1 + word.size() > kLineWidth) {
        all += line + "\n";
        line = indent;
      }
      if (line.size() > begin) line += " ";
      line += word;
    }
    all += line + "\n";
  }
  return all;
}

}  // namespace

const std::vector<CommandRow>& command_table() {
  static const std::vector<CommandRow> kTable(std::begin(kCommands), std::end(kCommands));
  return kTable;
}

const std::vector<OptionRow>& option_table() {
  static const std::vector<OptionRow> kTable(std::begin(kOptions), std::end(kOptions));
  return kTable;
}

bool belongs(const OptionRow& option, std::string_view command) {
  if (option.command.empty()) return true;
  const auto commands = split(option.command, ' ');
  return std::find(commands.begin(), commands.end(), command) != commands.end();
}

const CommandRow* find_command(std::string_view name) {
  for (const auto& row : command_table()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const OptionRow* find_option(std::string_view name, std::string_view command) {
  for (const auto& row : option_table()) {
    if (row.name == name && belongs(row, command)) return &row;
  }
  return nullptr;
}

std::vector<std::string> choices_of(const OptionRow& option) {
  return split(option.value, '|');
}

std::string options_help(std::string_view command) {
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const auto& option : option_table()) {
    if (!option.command.empty() && belongs(option, command)) {
      rows.emplace_back(label_of(option), option.help);
    }
  }
  return columns(rows);
}

std::string commands_help() {
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const auto& command : command_table()) {
    rows.emplace_back(std::string(command.name), command.help);
  }
  return columns(rows);
}

}  // namespace npu::cli
