// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <set>
#include <utility>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/cli/option_table.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/smi/metrics_text.hpp"
#include "workloads/framework/suggestion.hpp"

namespace npu::cli {
namespace {

namespace po = boost::program_options;

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& row : command_table()) names.emplace_back(row.name);
  std::sort(names.begin(), names.end());
  return names;
}

po::options_description known_options() {
  po::options_description options;
  std::set<std::string_view> there;
  for (const auto& row : option_table()) {
    if (!there.insert(row.name).second) continue;
    const std::string names =
        std::string(row.name) + (row.letter == 0 ? "" : std::string(",") + row.letter);
    auto add = options.add_options();
    if (row.kind == Value::kNone) {
      add(names.c_str(), po::bool_switch());
    } else if (row.kind == Value::kRepeatable) {
      add(names.c_str(), po::value<unsigned>()->implicit_value(1));
    } else if (row.kind == Value::kMode) {
      const auto modes = choices_of(row);
      add(names.c_str(), po::value<std::string>()->implicit_value(modes.front()));
    } else if (row.many) {
      add(names.c_str(), po::value<std::vector<std::string>>()->composing());
    } else {
      add(names.c_str(), po::value<std::string>());
    }
  }
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
  for (const auto& row : option_table()) {
    const auto option = "--" + std::string(row.name);
    if (std::find(known.begin(), known.end(), option) == known.end()) known.push_back(option);
  }
  return "unknown option '" + shortened(name) + "'" + workloads::suggestion(name, known);
}

// "--trace --profile": the file has been forgotten. One of such a name is "--trace=--profile".
std::string option_without_value(const po::parsed_options& parsed,
                                 const po::options_description& all) {
  for (const auto& option : parsed.options) {
    if (option.position_key >= 0 || option.original_tokens.size() < 2) continue;
    const std::string& value = option.original_tokens.back();
    if (value.rfind("--", 0) != 0 || all.find_nothrow(value.substr(2), false) == nullptr) continue;
    return "option '--" + option.string_key + "' has no value: '" + shortened(value) +
           "' is an option itself";
  }
  return {};
}

tl::expected<po::variables_map, Failure> parse(const std::vector<std::string>& arguments) {
  po::options_description all = known_options();
  all.add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    const auto parsed = po::command_line_parser(arguments)
                            .options(all)
                            .positional(positional)
                            .style(style)
                            .extra_parser(parse_letters)
                            .run();
    const std::string mistake = option_without_value(parsed, all);
    if (!mistake.empty()) return bad_input(mistake);
    po::store(parsed, values);
  } catch (const po::unknown_option& error) {
    return bad_input(unknown_option(error.get_option_name()));
  } catch (const po::error& error) {
    return bad_input(shortened(error.what(), 200));
  }
  return values;
}

tl::expected<std::uint64_t, Failure> parse_seed(const std::string& text) {
  if (const auto seed = read_number<std::uint64_t>(text)) return *seed;
  return bad_input("--seed: found '" + shortened(text) + "'; allowed: 0.." +
                   std::to_string(UINT64_MAX));
}

bool is_given(const po::variables_map& values, std::string_view name) {
  const auto found = values.find(std::string(name));
  return found != values.end() && !found->second.defaulted();
}

// Only options that the command uses: one that is ignored would look as if it had worked.
Outcome check_belongs(const po::variables_map& values, const std::string& command) {
  for (const auto& row : option_table()) {
    if (!is_given(values, row.name) || find_option(row.name, command) != nullptr) continue;
    return bad_input("option '--" + std::string(row.name) + "' does not belong to '" + command +
                     "'");
  }
  return {};
}

// What gdb runs takes no options of what it does not run.
Outcome check_under_gdb(const po::variables_map& values, const Options& options) {
  if (options.command != "gdb") return {};
  const std::string ran = is_exec_under_gdb(options) ? "exec" : "run";
  for (const auto& row : option_table()) {
    const bool fits = row.command == "gdb" || find_option(row.name, ran) != nullptr;
    if (fits || !is_given(values, row.name)) continue;
    return bad_input("option '--" + std::string(row.name) + "' does not belong to '" + ran + "'");
  }
  return {};
}

// A file to write called "-" is standard output, as one to read is standard input.
void name_standard_output(po::variables_map& values, const std::string& command) {
  for (const auto& row : option_table()) {
    if (row.kind != Value::kOutputFile || !belongs(row, command) || !is_given(values, row.name)) {
      continue;
    }
    auto& path = values.at(std::string(row.name)).as<std::string>();
    if (path == "-") path = "/dev/stdout";
  }
}

// The file of "--report=" would be none, without a word; and one file cannot hold two things.
Outcome check_files(const po::variables_map& values, const std::string& command) {
  std::vector<std::pair<std::string, std::string>> files;  // option, path
  for (const auto& row : option_table()) {
    const bool is_number = row.kind == Value::kNumber && row.name != "seed";
    const bool is_file = row.kind == Value::kOutputFile || row.kind == Value::kFolder;
    if (!(is_file || is_number) || !belongs(row, command) || !is_given(values, row.name)) continue;
    const std::string option = "--" + std::string(row.name);
    const auto& path = values[std::string(row.name)].as<std::string>();
    if (path.empty()) return bad_input(option + (is_number ? ": no number" : ": no file"));
    if (row.kind != Value::kOutputFile) continue;
    for (const auto& [other, other_path] : files) {
      if (is_same_file(path, other_path)) {
        return bad_input(other + " and " + option + " name the same file");
      }
    }
    files.emplace_back(option, path);
  }
  return {};
}

// Filters are of something, and something themselves.
Outcome check_filters(const po::variables_map& values) {
  const bool is_recorded = is_given(values, "trace") || is_given(values, "vcd");
  for (const std::string name : {"trace-window", "trace-unit", "trace-cause"}) {
    if (!is_given(values, name)) continue;
    if (!is_recorded) return bad_input("--" + name + " says what of --trace or --vcd");
  }
  const auto window = values.find("trace-window");
  if (window != values.end() && window->second.as<std::string>().empty()) {
    return bad_input("--trace-window: no times");
  }
  const auto units = values.find("trace-unit");
  if (units == values.end()) return {};
  const auto& names = units->second.as<std::vector<std::string>>();
  if (std::find(names.begin(), names.end(), "") == names.end()) return {};
  return bad_input("--trace-unit: no name");
}

template <class T>
T value_or(const po::variables_map& values, const char* name, T otherwise) {
  return values.count(name) != 0 ? values[name].as<T>() : otherwise;
}

SweepOptions sweep_options(const po::variables_map& values) {
  SweepOptions sweep;
  sweep.jobs = value_or<std::string>(values, "jobs", "");
  sweep.point = value_or<std::string>(values, "point", "");
  sweep.print_commands = values["print-commands"].as<bool>();
  sweep.slurm = values["slurm"].as<bool>();
  sweep.collect = values["collect"].as<bool>();
  return sweep;
}

SmiOptions smi_options(const po::variables_map& values) {
  SmiOptions smi;
  smi.type = value_or<std::string>(values, "type", "");
  smi.card = value_or<std::string>(values, "card", "");
  smi.vnpu_template = value_or<std::string>(values, "template", "");
  smi.vnpu = value_or<std::string>(values, "vnpu", "");
  smi.looks = value_or<std::string>(values, "count", "");
  smi.json = values["json"].as<bool>();
  return smi;
}

void take_values(const po::variables_map& values, Options& options) {
  const auto text = [&](const char* name) { return value_or<std::string>(values, name, ""); };
  const auto list = [&](const char* name) {
    return value_or(values, name, std::vector<std::string>{});
  };
  const auto is_on = [&](const char* name) { return values[name].as<bool>(); };
  options.config = text("config");
  options.sets = list("set");
  options.report = text("report");
  options.html = text("html");
  options.config_out = text("config-out");
  options.faults = list("fault");
  options.branches = text("branches");
  if (is_given(values, "until")) options.until = text("until");
  options.save = text("save");
  options.resume = text("resume");
  options.seed_given = is_given(values, "seed");
  options.trace = text("trace");
  options.vcd = text("vcd");
  // A page shows what a profile finds.
  options.profile = is_on("profile") || !options.html.empty();
  options.watch = is_on("watch");
  options.trace_window = text("trace-window");
  options.trace_units = list("trace-unit");
  options.shares = list("share");
  options.sharing = list("sharing");
  options.functions = list("vf");
  options.races = text("races");
  if (is_given(values, "at")) options.at = text("at");
  options.trace_causes = list("trace-cause");
  options.format = text("format");
  options.output = text("output");
  options.junit = text("junit");
  options.includes = list("include");
  options.defines = list("define");
  options.kernel_type = text("kernel-type");
  options.host = is_on("host");
  options.thresholds = list("threshold");
  options.names = is_on("names");
  options.listen = text("listen");
  options.stdio = is_on("stdio");
  options.sweep = sweep_options(values);
  options.smi = smi_options(values);
  options.management = text("management");
  options.metrics = text("metrics");
  options.metrics_prefix = value_or<std::string>(values, "metrics-prefix", options.metrics_prefix);
  options.verbosity = value_or(values, "verbose", 0U);
  options.sockets = list("socket");
  options.virtual_functions = text("virtual-functions");
  options.ecam = text("ecam");
  options.pace = value_or<std::string>(values, "pace", "fast");
  options.once = is_on("once");
  options.live = is_on("live");
  options.hex_dump = is_on("hex");
}

}  // namespace

bool is_exec_under_gdb(const Options& options) {
  return options.command == "gdb" && !options.arguments.empty() && options.arguments[0] == "exec";
}

tl::expected<Options, Failure> parse_options(const std::vector<std::string>& arguments) {
  auto values = parse(arguments);
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
  if (options.command == "help") {  // of the command behind it, as --help behind that
    options.help = true;
    options.command = options.arguments.empty() ? "" : options.arguments.front();
    if (options.command.empty()) return options;
    options.arguments.erase(options.arguments.begin());
    if (options.command == "help") return options;
  }
  if (find_command(options.command) == nullptr) {
    return bad_input("unknown command '" + shortened(options.command) + "'" +
                     workloads::suggestion(options.command, command_names()));
  }
  if (auto fits = check_belongs(*values, options.command); !fits) {
    return tl::unexpected(fits.error());
  }
  if (auto fits = check_under_gdb(*values, options); !fits) return tl::unexpected(fits.error());
  const auto seed = parse_seed(value_or<std::string>(*values, "seed", "1"));
  if (!seed) return tl::unexpected(seed.error());
  options.seed = *seed;
  name_standard_output(*values, options.command);
  if (auto usable = check_files(*values, options.command); !usable) {
    return tl::unexpected(usable.error());
  }
  if (auto usable = check_filters(*values); !usable) return tl::unexpected(usable.error());
  take_values(*values, options);
  if (!is_metrics_prefix(options.metrics_prefix)) {
    return bad_input("--metrics-prefix " + shortened(options.metrics_prefix) +
                     ": expected letters, digits, '_' and ':', no digit first");
  }
  return options;
}

}  // namespace npu::cli
