// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <map>

#include "npu/base/shortened.hpp"
#include "workloads/framework/nearest_name.hpp"

namespace npu::cli {
namespace {

namespace po = boost::program_options;

// Which command takes which option; --help and --version belong to all.
const std::map<std::string, std::vector<std::string>>& commands() {
  static const std::map<std::string, std::vector<std::string>> kCommands{
      {"compare", {"threshold", "format", "junit", "output"}},
      {"config", {"config", "set"}},
      {"list", {}},
      {"lspci", {"config", "set", "verbose", "hex"}},
      {"report", {"format", "output"}},
      {"run",
       {"config", "set", "report", "html", "config-out", "seed", "verbose", "trace", "trace-window",
        "trace-unit", "trace-cause", "profile", "vcd"}},
      {"serve", {"config", "set", "report", "config-out", "socket", "ecam", "pace", "once"}},
      {"sweep", {"output", "jobs", "point", "print-commands", "slurm", "collect"}},
      {"sysfs", {"config", "set", "live"}},
  };
  return kCommands;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& [name, options] : commands()) names.push_back(name);
  return names;
}

po::options_description visible_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("config", po::value<std::string>()->value_name("FILE"), "chip or system: a path or a name");
  add("set", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"),
      "a parameter of the workload, or else a key of the configuration");
  add("report", po::value<std::string>()->value_name("FILE"), "write the report as JSON");
  add("html", po::value<std::string>()->value_name("FILE"), "write the report as a page");
  add("config-out", po::value<std::string>()->value_name("FILE"),
      "write the resolved configuration as YAML");
  add("trace", po::value<std::string>()->value_name("FILE"),
      "run: write a timeline for Perfetto or chrome://tracing; FILE.gz: compressed");
  add("vcd", po::value<std::string>()->value_name("FILE"),
      "run: write when units were busy, for wave viewers");
  add("profile", po::bool_switch(),
      "run: add utilisation, durations, memory maps and the critical path to the report");
  add("trace-window", po::value<std::string>()->value_name("FROM..TO"),
      "of the timeline: simulated times, such as 10us..2.5ms");
  add("trace-unit", po::value<std::vector<std::string>>()->composing()->value_name("PATTERN"),
      "of the timeline: units, activities or categories, such as 'card0.dma*', tlp, aicore");
  add("trace-cause", po::value<std::vector<std::string>>()->composing()->value_name("CAUSE"),
      "of the timeline: what was done for a request, such as dma0:17, queue0.3:5");
  add("seed", po::value<std::string>()->value_name("N"), "of the workload's random numbers");
  add("socket", po::value<std::vector<std::string>>()->composing()->value_name("PATH[=BB:DD.F]"),
      "serve: where to listen for a client of a function");
  add("ecam", po::value<std::string>()->value_name("PATH"),
      "serve: where to listen for a client of the whole hierarchy");
  add("pace", po::value<std::string>()->value_name("fast|wall"),
      "serve: what holds simulated time");
  add("once", po::bool_switch(), "serve: end when the last client has left");
  add("format", po::value<std::string>()->value_name("NAME"),
      "report, compare: text, markdown, ...");
  add("output", po::value<std::string>()->value_name("FILE"),
      "report, compare: write there instead of to standard output; sweep: folder of the results");
  add("threshold", po::value<std::vector<std::string>>()->composing()->value_name("METRIC=AMOUNT"),
      "compare: how much worse is allowed");
  add("junit", po::value<std::string>()->value_name("FILE"), "compare: write JUnit's XML");
  add("live", po::bool_switch(), "sysfs: mount a file system instead of writing files");
  add("jobs", po::value<std::string>()->value_name("N"), "sweep: runs at a time");
  add("point", po::value<std::string>()->value_name("N"), "sweep: run this point only");
  add("print-commands", po::bool_switch(), "sweep: a command for each point still to run");
  add("slurm", po::bool_switch(), "sweep: a batch script for the points still to run");
  add("collect", po::bool_switch(), "sweep: table and page of what has been run");
  add("verbose,v", po::value<unsigned>()->implicit_value(1),
      "lspci: say more; -vvv: all of it; run: how fast the simulator was");
  add("hex,x", po::bool_switch(), "lspci: dump all configuration space");
  add("help,h", po::bool_switch(), "print help on the program or the command");
  add("version", po::bool_switch(), "print the version");
  return options;
}

// "-v", "-vvv", "-vx": po takes a repeated switch for an error.
std::pair<std::string, std::string> parse_letters(const std::string& token) {
  const bool all_v =
      token.size() > 1 && token[0] == '-' && token.find_first_not_of('v', 1) == std::string::npos;
  if (all_v) return {"verbose", std::to_string(token.size() - 1)};
  return {};
}

std::string unknown_option(const std::string& name) {
  std::vector<std::string> known;
  const po::options_description options = visible_options();
  for (const auto& option : options.options()) {
    known.push_back("--" + option->long_name());
  }
  return "unknown option '" + shortened(name) + "'" + workloads::suggestion(name, known);
}

tl::expected<po::variables_map, Failure> parse(const std::vector<std::string>& arguments) {
  po::options_description all = visible_options();
  all.add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    po::store(po::command_line_parser(arguments)
                  .options(all)
                  .positional(positional)
                  .style(style)
                  .extra_parser(parse_letters)
                  .run(),
              values);
  } catch (const po::unknown_option& error) {
    return bad_input(unknown_option(error.get_option_name()));
  } catch (const po::error& error) {
    return bad_input(shortened(error.what(), 200));
  }
  return values;
}

tl::expected<std::uint64_t, Failure> parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) {
    return bad_input("--seed: found '" + shortened(text) + "'; allowed: 0.." +
                     std::to_string(UINT64_MAX));
  }
  return seed;
}

// Only options that the command uses: one that is ignored would look as if it had worked.
Outcome check_belongs(const po::variables_map& values, const std::string& command) {
  const auto& takes = commands().at(command);
  const po::options_description all = visible_options();
  for (const auto& option : all.options()) {
    const std::string& name = option->long_name();
    if (name == "help" || name == "version") continue;
    if (values.count(name) == 0 || values[name].defaulted()) continue;
    if (std::find(takes.begin(), takes.end(), name) == takes.end()) {
      return bad_input("option '--" + name + "' does not belong to '" + command + "'");
    }
  }
  return {};
}

// The file of "--report=" would be none, without a word.
Outcome check_files(const Options& options, const po::variables_map& values) {
  for (const std::string name :
       {"report", "html", "config-out", "trace", "vcd", "output", "junit"}) {
    if (values.count(name) != 0 && values[name].as<std::string>().empty()) {
      return bad_input("--" + name + ": no file");
    }
  }
  const std::pair<const char*, const std::string&> files[] = {{"--report", options.report},
                                                              {"--html", options.html},
                                                              {"--config-out", options.config_out},
                                                              {"--trace", options.trace},
                                                              {"--vcd", options.vcd}};
  for (const auto& [name, path] : files) {
    for (const auto& [other, other_path] : files) {
      if (&path != &other_path && !path.empty() && path == other_path) {
        return bad_input(std::string(name) + " and " + other + " name the same file");
      }
    }
  }
  if (options.trace.empty() && options.vcd.empty()) {
    for (const std::string name : {"trace-window", "trace-unit", "trace-cause"}) {
      if (values.count(name) != 0) return bad_input("--" + name + " says what of --trace or --vcd");
    }
  }
  if (!options.output.empty() && options.output == options.junit) {
    return bad_input("--output and --junit name the same file");
  }
  return {};
}

template <class T>
T value_or(const po::variables_map& values, const char* name, T otherwise) {
  return values.count(name) != 0 ? values[name].as<T>() : otherwise;
}

tl::expected<SweepOptions, Failure> parse_sweep(const po::variables_map& values) {
  for (const std::string name : {"jobs", "point"}) {
    if (values.count(name) == 0 || !values[name].as<std::string>().empty()) continue;
    return bad_input("--" + name + ": no number");
  }
  SweepOptions sweep;
  sweep.jobs = value_or<std::string>(values, "jobs", "");
  sweep.point = value_or<std::string>(values, "point", "");
  sweep.print_commands = values["print-commands"].as<bool>();
  sweep.slurm = values["slurm"].as<bool>();
  sweep.collect = values["collect"].as<bool>();
  return sweep;
}

}  // namespace

tl::expected<Options, Failure> parse_options(const std::vector<std::string>& arguments) {
  const auto values = parse(arguments);
  if (!values) return tl::unexpected(values.error());
  Options options;
  options.arguments = value_or(*values, "words", std::vector<std::string>{});
  options.help = (*values)["help"].as<bool>();
  options.version = (*values)["version"].as<bool>();
  if (options.arguments.empty()) {
    if (options.help || options.version) return options;
    std::string known;
    for (const auto& name : command_names()) known += (known.empty() ? "" : ", ") + name;
    return bad_input("no command; known: " + known + "; see npusim --help");
  }
  options.command = options.arguments.front();
  options.arguments.erase(options.arguments.begin());
  if (commands().count(options.command) == 0) {
    return bad_input("unknown command '" + shortened(options.command) + "'" +
                     workloads::suggestion(options.command, command_names()));
  }
  if (auto fits = check_belongs(*values, options.command); !fits) {
    return tl::unexpected(fits.error());
  }
  const auto seed = parse_seed(value_or<std::string>(*values, "seed", "1"));
  if (!seed) return tl::unexpected(seed.error());
  options.seed = *seed;
  options.config = value_or<std::string>(*values, "config", "");
  options.sets = value_or(*values, "set", std::vector<std::string>{});
  options.report = value_or<std::string>(*values, "report", "");
  options.html = value_or<std::string>(*values, "html", "");
  options.config_out = value_or<std::string>(*values, "config-out", "");
  options.trace = value_or<std::string>(*values, "trace", "");
  options.vcd = value_or<std::string>(*values, "vcd", "");
  // A page shows what a profile finds.
  options.profile = (*values)["profile"].as<bool>() || !options.html.empty();
  options.trace_window = value_or<std::string>(*values, "trace-window", "");
  options.trace_units = value_or(*values, "trace-unit", std::vector<std::string>{});
  options.trace_causes = value_or(*values, "trace-cause", std::vector<std::string>{});
  options.format = value_or<std::string>(*values, "format", "");
  options.output = value_or<std::string>(*values, "output", "");
  options.junit = value_or<std::string>(*values, "junit", "");
  options.thresholds = value_or(*values, "threshold", std::vector<std::string>{});
  if (auto usable = check_files(options, *values); !usable) return tl::unexpected(usable.error());
  const auto sweep = parse_sweep(*values);
  if (!sweep) return tl::unexpected(sweep.error());
  options.sweep = *sweep;
  options.verbosity = value_or(*values, "verbose", 0U);
  options.sockets = value_or(*values, "socket", std::vector<std::string>{});
  options.ecam = value_or<std::string>(*values, "ecam", "");
  options.pace = value_or<std::string>(*values, "pace", "fast");
  options.once = (*values)["once"].as<bool>();
  options.live = (*values)["live"].as<bool>();
  options.hex_dump = (*values)["hex"].as<bool>();
  return options;
}

}  // namespace npu::cli
