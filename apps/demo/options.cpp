// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/options.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <sstream>

namespace npu::demo {
namespace {

namespace po = boost::program_options;

po::options_description visible_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  add("backend", text("NAME")->default_value("vfio"),
      "vfio: a card of this machine; sim: simulator");
  add("config", text("FILE")->default_value("910b"), "sim: chip or system, a path or a name");
  add("set", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"),
      "sim: a key of the configuration");
  add("simulator", text("FILE")->default_value(""), "sim: libnpusim, if not beside this program");
  add("bdf", text("BUS:DEV.FN"), "the card; default: the first one found");
  add("steps", text("NAME,..."), "only these steps");
  add("list", po::bool_switch(), "print the steps");
  add("max-bytes", po::value<Bytes>()->default_value(64_MiB)->value_name("N"),
      "largest copy, 4096 or more");
  add("patience", po::value<unsigned>()->default_value(30)->value_name("S"),
      "seconds of the machine's clock until a wait has failed, 1 .. 3600");
  add("ring", text("PLACE")->default_value("device"), "of the DMA commands: device, host");
  add("device-removed", po::bool_switch(), "in the end work on until the card is taken away");
  add("device-error", po::bool_switch(),
      "in the end work on until the card has an uncorrectable error (AER), and open it again");
  add("help,h", po::bool_switch(), "print this");
  return options;
}

std::string help() {
  std::ostringstream text;
  text << "npudemo: tries a card through the driver alone, step by step.\n\n"
       << visible_options()
       << "\nOne line per step, \"ok <name>: figures\" or \"FAILED <name>: error\"; times are\n"
          "those of the machine's clock. Exit status: 0 all ok, 1 a step failed, 2 wrong usage or "
          "no\n"
          "such machine.";
  return text.str();
}

std::string list() {
  std::string text = "step                  workload and its parameters";
  for (const auto& step : steps()) {
    text += fmt::format("\n{:<22}{}", step.name, step.workload);
    for (const auto& setting : step.settings) text += " " + setting;
    if (!step.until.empty()) text += "; until the card " + step.until;
  }
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

tl::unexpected<Error> wrong(std::string what) {
  return fail(ErrorCode::kInvalidArgument, std::move(what));
}

Status read_machine(const po::variables_map& values, Options& options) {
  const auto backend = values["backend"].as<std::string>();
  if (backend != "vfio" && backend != "sim") return wrong("--backend: vfio or sim");
  options.on_simulator = backend == "sim";
  options.simulator.config = values["config"].as<std::string>();
  options.simulator.library = values["simulator"].as<std::string>();
  if (values.count("set") != 0) {
    options.simulator.overrides = values["set"].as<std::vector<std::string>>();
  }
  return {};
}

Status read_request(const po::variables_map& values, Request& request) {
  if (values.count("bdf") != 0) {
    const auto text = values["bdf"].as<std::string>();
    request.bdf = platform::parse_bdf(text);
    if (!request.bdf) return wrong("'" + text + "' is no function of PCI domain 0000 (01:00.0)");
  }
  request.max_bytes = values["max-bytes"].as<Bytes>();
  if (request.max_bytes < 4_KiB || request.max_bytes > 1_GiB) return wrong("--max-bytes");
  const auto seconds = values["patience"].as<unsigned>();
  if (seconds < 1 || seconds > 3600) return wrong("--patience: 1 .. 3600");
  request.patience = 1_s * seconds;
  request.ring = values["ring"].as<std::string>();
  if (request.ring != "device" && request.ring != "host") return wrong("--ring: device or host");
  if (values.count("steps") != 0) request.steps = split(values["steps"].as<std::string>());
  const bool removed = values["device-removed"].as<bool>();
  const bool error = values["device-error"].as<bool>();
  if (removed && error) return wrong("--device-removed or --device-error, not both");
  request.ending = removed ? kRemoval : error ? kError : "";
  return check_steps(request.steps);
}

}  // namespace

Result<Options> parse_options(int count, const char* const* arguments) {
  Options options;
  po::variables_map values;
  try {
    po::store(po::command_line_parser(count, arguments).options(visible_options()).run(), values);
  } catch (const po::error& error) {
    return wrong(error.what());
  }
  if (values["help"].as<bool>()) options.answer = help();
  if (values["list"].as<bool>()) options.answer = list();
  if (auto ok = read_machine(values, options); !ok) return forward_error(ok);
  if (auto ok = read_request(values, options.request); !ok) return forward_error(ok);
  return options;
}

}  // namespace npu::demo
