// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/sweep_table.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "tools/reports/json_text.hpp"
#include "tools/reports/report_csv.hpp"

namespace npu::sweep {
namespace {

using reports::json_string;
using Index = std::map<Cell, std::size_t>;

bool matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string pareto_text(const std::optional<bool>& pareto, const char* yes, const char* no,
                        const char* unknown) {
  if (!pareto) return unknown;
  return *pareto ? yes : no;
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i == 0 ? "" : ",") + reports::csv_field(cells[i]);
  }
  return line + "\n";
}

SweepTable::SweepTable(const SweepSpec& spec, std::string version, std::vector<Axis> axes)
    : spec_(spec), version_(std::move(version)), axes_(std::move(axes)) {
  for (const auto& choice : spec.metrics) {
    if (choice.name.empty()) continue;
    named_.emplace(choice.name, metrics_.size());
    metrics_.push_back({choice.name, "", true});
  }
}

bool SweepTable::is_axis(const std::string& name) const {
  return std::any_of(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == name; });
}

const std::size_t* SweepTable::column(const std::string& name) const {
  for (const auto* columns : {&named_, &by_name_}) {
    if (const auto found = columns->find(name); found != columns->end()) return &found->second;
  }
  return nullptr;
}

bool SweepTable::wanted(const std::string& metric, bool by_default) const {
  const auto named = [&](const Objective& o) {
    return o.name.text == metric && named_.count(metric) == 0;
  };
  const auto fits = [&](const MetricChoice& choice) {
    return choice.name.empty() && matches(choice.pattern.text, metric);
  };
  return (spec_.metrics.empty() && by_default) ||
         std::any_of(spec_.metrics.begin(), spec_.metrics.end(), fits) ||
         std::any_of(spec_.objectives.begin(), spec_.objectives.end(), named);
}

void SweepTable::add_metric(Row& row, const reports::Metric& metric, bool shown_by_default) {
  const std::string value = metric.value.text();
  for (const auto& choice : spec_.metrics) {
    if (choice.name.empty() || !matches(choice.pattern.text, metric.name)) continue;
    Column& named = metrics_[named_.at(choice.name)];
    named.unit = metric.unit;
    const bool first = row.values.emplace(named_.at(choice.name), value).second;
    if (first || ambiguous_) continue;
    ambiguous_ =
        model::error_at(choice.pattern.place, "metrics." + choice.name,
                        "stands for several metrics of point " + std::to_string(row.number) +
                            ", one is '" + shortened(metric.name) + "'");
  }
  const auto [known, is_new] = by_name_.emplace(metric.name, metrics_.size());
  if (is_new) metrics_.push_back({metric.name, metric.unit, wanted(metric.name, shown_by_default)});
  if (metrics_[known->second].shown) row.values[known->second] = value;
}

void SweepTable::add(const PlannedPoint& point, const std::optional<reports::Report>& report,
                     const std::optional<RunFailure>& failure) {
  Row row;
  row.number = point.number;
  row.name = point.identity.name();
  row.cells = point.cells;
  row.status = report ? "done" : failure ? "failed" : "missing";
  if (!report) row.failure = failure;
  if (report) {
    for (const auto& metric : report->metrics()) add_metric(row, metric, true);
    // Hardly anybody wants to see all of these.
    for (const auto& counter : report->counters()) add_metric(row, counter, false);
  }
  rows_.push_back(std::move(row));
}

std::vector<std::optional<bool>> SweepTable::pareto() const {
  if (spec_.objectives.empty()) return std::vector<std::optional<bool>>(rows_.size());
  std::vector<Goal> goals;
  for (const auto& objective : spec_.objectives) goals.push_back(objective.goal);
  std::vector<Alternative> alternatives;
  for (const auto& row : rows_) {
    Alternative values;
    for (const auto& objective : spec_.objectives) {
      const std::string& name = objective.name.text;
      const auto axis = std::find_if(axes_.begin(), axes_.end(),
                                     [&](const Axis& each) { return each.name == name; });
      const auto* metric = column(name);
      values.emplace_back();
      if (row.status != "done") continue;  // a setting that does not work costs nothing
      if (axis != axes_.end()) {
        values.back() = row.cells[static_cast<std::size_t>(axis - axes_.begin())].number;
      } else if (metric != nullptr) {
        const auto value = row.values.find(*metric);
        if (value != row.values.end()) values.back() = value->second;
      }
    }
    alternatives.push_back(std::move(values));
  }
  return pareto_front(alternatives, goals);
}

std::string SweepTable::csv() const {
  std::vector<std::string> heading;
  for (const auto& axis : axes_) heading.push_back(axis.name);
  heading.push_back("status");
  if (!spec_.objectives.empty()) heading.push_back("pareto");
  for (const auto& metric : metrics_) {
    if (metric.shown) heading.push_back(metric.name);
  }
  std::string text = csv_line(heading);
  const auto front = pareto();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    std::vector<std::string> cells;
    for (const auto& cell : row.cells) cells.push_back(cell.plain());
    cells.push_back(row.status);
    if (!spec_.objectives.empty()) cells.push_back(pareto_text(front[i], "yes", "no", ""));
    for (std::size_t metric = 0; metric < metrics_.size(); ++metric) {
      if (!metrics_[metric].shown) continue;
      const auto value = row.values.find(metric);
      cells.push_back(value == row.values.end() ? "" : value->second);
    }
    text += csv_line(cells);
  }
  return text;
}

std::string SweepTable::axis_json(std::size_t axis, const Index& index) const {
  std::vector<const Cell*> cells(index.size());
  for (const auto& [cell, at] : index) cells[at] = &cell;
  std::string values;
  bool numeric = true;
  for (const auto* cell : cells) {
    numeric = numeric && !cell->number.empty();
    values += (values.empty() ? "{\"text\": " : ", {\"text\": ") + json_string(cell->text) +
              (cell->number.empty() ? "}" : ", \"number\": " + cell->number + "}");
  }
  return "{\"name\": " + json_string(axes_[axis].name) +
         ", \"kind\": " + json_string(axes_[axis].kind) +
         ", \"unit\": " + json_string(axes_[axis].unit) +
         ", \"numeric\": " + (numeric ? "true" : "false") + ", \"values\": [" + values + "]}";
}

std::string SweepTable::row_json(const Row& row, const std::vector<Index>& indices,
                                 const std::optional<bool>& pareto) const {
  std::string axes, values;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    axes += (i == 0 ? "" : ", ") + std::to_string(indices[i].at(row.cells[i]));
  }
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!metrics_[i].shown) continue;
    const auto value = row.values.find(i);
    values += (values.empty() ? "" : ", ") + (value == row.values.end() ? "null" : value->second);
  }
  std::string text =
      "{\"number\": " + std::to_string(row.number) + ", \"name\": " + json_string(row.name) +
      ", \"status\": " + json_string(row.status) + ", \"axes\": [" + axes + "], \"values\": [" +
      values + "], \"pareto\": " + pareto_text(pareto, "true", "false", "null");
  if (row.failure) {
    text += ", \"exit_code\": " + std::to_string(row.failure->exit_code) +
            ", \"failure\": " + json_string(row.failure->line);
  }
  return text + "}";
}

std::string SweepTable::json() const {
  std::vector<Index> indices(axes_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      indices[i].emplace(row.cells[i], indices[i].size());
    }
  }
  std::vector<std::string> axes, points, metrics;
  for (std::size_t i = 0; i < axes_.size(); ++i) axes.push_back(axis_json(i, indices[i]));
  const auto front = pareto();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    points.push_back(row_json(rows_[i], indices, front[i]));
  }
  for (const auto& metric : metrics_) {
    if (!metric.shown) continue;
    metrics.push_back("{\"name\": " + json_string(metric.name) +
                      ", \"unit\": " + json_string(metric.unit) + "}");
  }
  const auto itself = [](const std::string& text) { return text; };
  const auto objective_json = [&](const Objective& objective) {
    return "{\"name\": " + json_string(objective.name.text) + ", \"kind\": \"" +
           (is_axis(objective.name.text) ? "axis" : "metric") + "\", \"goal\": \"" +
           (objective.goal == Goal::kMinimum ? "min" : "max") + "\"}";
  };
  return "{\n  \"schema\": \"npusim.sweep_results/1\",\n  \"npusim\": " + json_string(version_) +
         ",\n  \"name\": " + json_string(spec_.name) +
         ",\n  \"workload\": " + json_string(spec_.workload.text) +
         ",\n  \"axes\": " + reports::json_array(axes, itself) +
         ",\n  \"objectives\": " + reports::json_array(spec_.objectives, objective_json) +
         ",\n  \"metrics\": " + reports::json_array(metrics, itself) +
         ",\n  \"points\": " + reports::json_array(points, itself) + "\n}\n";
}

std::optional<model::ConfigError> SweepTable::mistake() const {
  std::vector<std::string> names;
  for (const auto& [name, column] : by_name_) names.push_back(name);
  const auto nothing = [&](const PlacedText& where, const std::string& key) {
    auto error =
        model::error_at(where.place, key, "no report has a metric '" + shortened(where.text) + "'");
    error.suggestion = nearest_name(where.text, names);
    if (error.suggestion.empty()) error.allowed = "names of metrics in the reports";
    return error;
  };
  for (const auto& choice : spec_.metrics) {
    const bool any = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return matches(choice.pattern.text, name);
    });
    if (!any) return nothing(choice.pattern, "metrics");
  }
  for (const auto& objective : spec_.objectives) {
    if (is_axis(objective.name.text) || column(objective.name.text) != nullptr) continue;
    return nothing(objective.name, "objectives");
  }
  return ambiguous_;
}

}  // namespace npu::sweep
