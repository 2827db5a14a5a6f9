// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/planner.hpp"

#include <algorithm>
#include <cctype>

#include "model/config/load.hpp"
#include "model/config/short_keys.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/run_checks.hpp"
#include "tools/cli/sweep/decimal.hpp"
#include "tools/cli/sweep/program_digest.hpp"
#include "tools/reports/digest.hpp"
#include "workloads/framework/parameter_text.hpp"

namespace npu::sweep {
namespace {

using cli::bad_input;
using cli::Failure;
using workloads::ParameterSet;

std::string at(const PlacedText& where, const std::string& key, const std::string& problem) {
  return model::error_at(where.place, key, problem).message();
}

// A key of the configuration in full, however short it was given.
std::string full_name(const workloads::Workload& workload, const std::string& key) {
  return cli::is_parameter(workload, key) ? key : model::full_override(key);
}

std::string setting(const Assignment& assignment) {
  return assignment.key.text + "=" + assignment.value.text;
}

// Whether the name stands in the text as a word of its own.
bool mentions(const std::string& text, const std::string& name) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '.');
  };
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + name.size())) return true;
  }
  return false;
}

// One number, if that is what the value is.
std::string number_of(const workloads::NamedValue& value) {
  const bool single = !value.is_text && value.elements.size() == 1;
  return single && is_decimal(value.elements[0]) ? value.elements[0] : "";
}

}  // namespace

Planner::Planner(const SweepSpec& spec, const workloads::Workload& workload)
    : spec_(&spec), workload_(&workload), grid_(spec) {}

tl::expected<Planner, Failure> Planner::make(const SweepSpec& spec) {
  const auto workload = workloads::all_workloads().find(spec.workload.text);
  if (!workload) return bad_input(at(spec.workload, "workload", workload.error().context));
  Planner planner(spec, **workload);
  planner.axes_.push_back({"configuration", "configuration", ""});
  std::vector<PlacedText> keys;
  for (const auto& axis : spec.grid) keys.push_back(axis.key);
  if (!spec.list.empty()) {
    for (const auto& assignment : spec.list.front()) keys.push_back(assignment.key);
  }
  for (const auto& key : keys) {
    if (auto ok = planner.add_axis(key); !ok) return tl::unexpected(ok.error());
  }
  planner.axes_.push_back({"seed", "seed", ""});
  return planner;
}

cli::Outcome Planner::add_axis(const PlacedText& key) {
  const bool parameter = cli::is_parameter(*workload_, key.text);
  if (!parameter && !model::is_config_key(key.text)) {
    return bad_input(at(key, key.text, cli::unknown_key(*workload_, key.text)));
  }
  Axis axis{full_name(*workload_, key.text), parameter ? "parameter" : "key", ""};
  for (const auto& other : axes_) {
    if (other.name != axis.name) continue;
    return bad_input(at(key, key.text,
                        "is varied twice: the list's entries are combined with every point of the "
                        "grid, so each key belongs to one of them"));
  }
  for (const auto& spec : workload_->parameters) {
    if (spec.name == axis.name) axis.unit = spec.unit;
  }
  axes_.push_back(std::move(axis));
  return {};
}

Failure Planner::at_point(const GridPoint& point, const PlacedText& where,
                          const std::string& problem) const {
  return {cli::kExitBadInput, at(where, "",
                                 "point " + std::to_string(point.number) + " (" +
                                     shortened(grid_.label(point), 120) + "): " + problem)};
}

Failure Planner::at_point(const GridPoint& point, const std::string& problem) const {
  for (const auto& each : point.assignments) {
    if (mentions(problem, each.key.text)) return at_point(point, each.value, problem);
  }
  return at_point(point, spec_->workload, problem);
}

// The value that is there twice is the one with another place.
Failure Planner::same_run(const PlannedPoint& first, const GridPoint& point) const {
  const GridPoint before = grid_.point(first.number);
  PlacedText where = point.configuration;
  const auto moved = [](const PlacedText& a, const PlacedText& b) {
    return a.place.line != b.place.line || a.place.column != b.place.column;
  };
  if (moved(before.seed, point.seed)) where = point.seed;
  for (std::size_t i = 0; i < point.assignments.size(); ++i) {
    const PlacedText& value = point.assignments[i].value;
    if (moved(before.assignments[i].value, value)) where = value;
  }
  return at_point(point, where,
                  "is the same run as point " + std::to_string(first.number) + " (" +
                      shortened(first.label, 120) + ")");
}

tl::expected<Planner::Machine, Failure> Planner::load(const GridPoint& point,
                                                      const std::vector<std::string>& overrides) {
  std::string key = point.configuration.text;
  for (const auto& each : overrides) key += "\n" + each;
  if (const auto known = machines_.find(key); known != machines_.end()) return known->second;
  const auto system =
      model::load_system(point.configuration.text, overrides, cli::config_directories());
  if (system) {
    const Machine machine{reports::sha256_text(model::show_system(*system)), system->replaced,
                          system->cards.size()};
    return machines_.emplace(key, machine).first->second;
  }
  model::ConfigError error = system.error();
  for (const auto& each : point.assignments) {
    const std::string given = full_name(*workload_, each.key.text) + "=" + each.value.text;
    if (error.file != "--set " + shortened(given)) continue;
    error.file = each.value.place.file;
    error.line = each.value.place.line;
    error.column = each.value.place.column;
    return tl::unexpected(Failure{cli::kExitBadInput, error.message()});
  }
  if (error.file.empty() || overrides.empty()) {
    return bad_input(at(point.configuration, "configuration", error.message()));
  }
  return tl::unexpected(at_point(point, error.message()));
}

std::vector<Cell> Planner::cells_of(const GridPoint& point, const ParameterSet& parameters,
                                    const Machine& machine) const {
  std::vector<Cell> cells{{point.configuration.text, ""}};
  const auto texts = parameters.texts();
  const auto values = parameters.values();
  for (const auto& each : point.assignments) {
    const std::string name = full_name(*workload_, each.key.text);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].name == name) cells.push_back({texts[i].second, number_of(values[i])});
    }
    if (cli::is_parameter(*workload_, name)) continue;
    for (const auto& key : machine.replaced) {
      if (key.key != name) continue;
      cells.push_back({key.value, number_of({key.key, {key.value}, key.is_text})});
    }
  }
  cells.push_back({point.seed.text, point.seed.text});
  return cells;
}

tl::expected<PlannedPoint, Failure> Planner::plan(const GridPoint& point) {
  ParameterSet parameters(workload_->parameters);
  std::vector<std::string> overrides;
  PlannedPoint planned;
  planned.number = point.number;
  planned.label = grid_.label(point);
  planned.arguments = {"--config=" + point.configuration.text, "run", workload_->name,
                       "--seed=" + point.seed.text};
  for (const auto& each : point.assignments) {
    planned.sets.push_back(setting(each));
    if (!cli::is_parameter(*workload_, each.key.text)) {
      overrides.push_back(model::full_override(setting(each)));
      continue;
    }
    const Status assigned = parameters.assign(setting(each));
    if (!assigned) return bad_input(at(each.value, "", assigned.error().context));
  }
  if (workload_->check != nullptr) {
    const Status usable = workload_->check(parameters, cli::config_directories());
    if (!usable) return tl::unexpected(at_point(point, usable.error().context));
  }
  const auto machine = load(point, overrides);
  if (!machine) return tl::unexpected(machine.error());
  if (const auto there = cli::check_card(parameters, machine->cards); !there) {
    return tl::unexpected(at_point(point, there.error().text));
  }
  planned.cells = cells_of(point, parameters, *machine);
  planned.machine = workload_->name + "\n" + point.configuration.text + "\n" + point.seed.text;
  for (const auto& each : overrides) planned.machine += "\n" + each;
  RunIdentity& run = planned.identity;
  run.version = NPU_VERSION;
  run.workload = workload_->name;
  run.config_sha256 = machine->sha256;
  for (const auto& key : machine->replaced) {
    run.overrides.push_back({key.key, {key.value}, key.is_text});
  }
  run.seed = *workloads::parse_integer(point.seed.text);
  run.parameters = parameters.values();
  run.build = program_digest();
  if (workload_->inputs == nullptr) return planned;
  for (const auto& file : workload_->inputs(parameters, cli::config_directories())) {
    const auto [digest, is_new] = digests_.emplace(file, "");
    if (is_new) digest->second = file_digest(file);
    run.inputs.emplace_back(file, digest->second);
  }
  return planned;
}

tl::expected<std::vector<PlannedPoint>, Failure> Planner::plan_all() {
  std::vector<PlannedPoint> points;
  std::map<std::string, std::size_t> numbers;  // by name
  for (std::size_t number = 0; number < grid_.size(); ++number) {
    const GridPoint point = grid_.point(number);
    auto planned = plan(point);
    if (!planned) return tl::unexpected(planned.error());
    const auto [first, is_new] = numbers.emplace(planned->identity.name(), number);
    if (!is_new) return tl::unexpected(same_run(points[first->second], point));
    points.push_back(std::move(*planned));
  }
  if (auto ok = check_objectives(points); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_columns(); !ok) return tl::unexpected(ok.error());
  return points;
}

cli::Outcome Planner::check_columns() const {
  for (const auto& choice : spec_->metrics) {
    const auto is_axis = [&](const Axis& axis) { return axis.name == choice.name; };
    const bool is_taken = std::any_of(axes_.begin(), axes_.end(), is_axis) ||
                          choice.name == "status" || choice.name == "pareto";
    if (!is_taken) continue;
    return bad_input(at(choice.pattern, "metrics." + choice.name,
                        "the table has a column of that name already"));
  }
  return {};
}

cli::Outcome Planner::check_objectives(const std::vector<PlannedPoint>& points) const {
  for (const auto& objective : spec_->objectives) {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (axes_[axis].name != objective.name.text) continue;
      for (const auto& point : points) {
        if (!point.cells[axis].number.empty()) continue;
        return bad_input(at(objective.name, "objectives." + objective.name.text,
                            "'" + shortened(point.cells[axis].text) + "' is no number"));
      }
    }
  }
  return {};
}

}  // namespace npu::sweep
