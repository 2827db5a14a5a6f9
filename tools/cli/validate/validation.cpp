// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "tools/cli/validate/steps.hpp"
#include "tools/reports/trust/bands.hpp"

namespace npu::validate {
namespace {

using reports::Number;

constexpr unsigned kDecimals = 3;

Number number(double value) {
  return Number::scaled(std::llround(value * 1000), kDecimals);
}

// As names of metrics may be.
std::string name_of(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

void add_errors(reports::Report& to, const std::string& prefix, const Errors& errors) {
  to.add_metric(prefix + "rows", Number::count(errors.rows), "");
  to.add_metric(prefix + "mape_percent", number(errors.mape), "%");
  to.add_metric(prefix + "median_percent", number(errors.median), "%");
  to.add_metric(prefix + "bias_percent", number(errors.bias), "%");
}

std::string text_of(double value) {
  return number(value).text();
}

// Bands are of durations of kernels: not of rates, nor of what the host waited.
bool is_device_time(const Compared& row) {
  const auto& unit = row.row->unit;
  return (unit == "ns" || unit == "us" || unit == "ms") &&
         row.operation.metric == row.operation.device_metric;
}

}  // namespace

Errors errors_of(const std::vector<const Compared*>& rows) {
  Errors errors;
  errors.rows = rows.size();
  if (rows.empty()) return errors;
  std::vector<double> sizes;
  for (const auto* row : rows) {
    const double error = row->error_percent();
    errors.bias += error;
    errors.mape += std::abs(error);
    sizes.push_back(std::abs(error));
  }
  const auto count = static_cast<double>(rows.size());
  errors.bias /= count;
  errors.mape /= count;
  std::sort(sizes.begin(), sizes.end());
  const auto middle = sizes.size() / 2;
  errors.median = sizes.size() % 2 == 1 ? sizes[middle] : (sizes[middle - 1] + sizes[middle]) / 2;
  return errors;
}

std::map<Validation::Group, std::vector<const Compared*>> Validation::groups() const {
  std::map<Group, std::vector<const Compared*>> groups;
  for (const auto& row : compared_) groups[{row.row->sku, row.row->op}].push_back(&row);
  return groups;
}

// Bands of 90 % from the rows themselves; each row, or operator, by those of all others.
void Validation::report_bands(reports::Report& to) const {
  std::vector<reports::KnownError> errors;
  errors.reserve(compared_.size());
  for (const auto& row : compared_) {
    if (!is_device_time(row)) continue;
    errors.push_back({row.operation.configuration, row.row->op, row.bound, row.row->id, "",
                      std::log(row.predicted / row.row->value)});
  }
  const reports::Bands bands(errors);
  const auto of_operators = bands.coverage(reports::Bands::LeftOut::kOperator);
  reports::Table table{"rows in bands of 90 % that were made without them, in percent",
                       {"configuration", "rows", "each row left out", "each operator left out"},
                       {}};
  for (const auto& [sku, held] : bands.coverage(reports::Bands::LeftOut::kRow)) {
    const auto& by_operator = of_operators.at(sku);
    const auto rows = Number::percent(held.held, held.rows);
    const auto operators = Number::percent(by_operator.held, by_operator.rows);
    table.rows.push_back({sku, std::to_string(held.rows), rows.text(), operators.text()});
    to.add_metric(fmt::format("validate.bands.{}.rows_held_percent", name_of(sku)), rows, "%");
    to.add_metric(fmt::format("validate.bands.{}.operators_held_percent", name_of(sku)), operators,
                  "%");
  }
  if (!table.rows.empty()) to.add_table("", {}) = std::move(table);
}

void Validation::report_steps(reports::Report& to) const {
  auto steps = steps_of(compared_);
  if (steps.empty()) return;
  std::stable_partition(steps.begin(), steps.end(), [](const Step& step) { return !step.right(); });
  auto& table = to.add_table("steps of ladders, those in the wrong order first",
                             {"before", "after", "operator", "shape", "measured", "predicted",
                              "unit", "quicker one named"});
  std::size_t right = 0, same = 0;
  for (const auto& step : steps) {
    const auto& before = *step.before;
    const auto& after = *step.after;
    right += step.right() ? 1 : 0;
    same += step.same_run() ? 1 : 0;
    table.rows.push_back(
        {before.row->id, after.row->id, after.row->op, after.row->shape,
         fmt::format("{} -> {}", before.row->text, after.row->text),
         fmt::format("{} -> {}", text_of(before.predicted), text_of(after.predicted)),
         after.row->unit,
         step.same_run() ? "same run"
         : step.right()  ? "yes"
                         : "no"});
  }
  to.add_metric("validate.steps", Number::count(steps.size()), "");
  to.add_metric("validate.steps_same_run", Number::count(same), "");
  if (steps.size() == same) return;
  to.add_metric("validate.steps_right_percent", Number::percent(right, steps.size() - same), "%");
}

void Validation::report(reports::Report& to) const {
  std::vector<const Compared*> all;
  for (const auto& row : compared_) all.push_back(&row);
  std::stable_sort(all.begin(), all.end(), [](const Compared* a, const Compared* b) {
    return std::abs(a->error_percent()) > std::abs(b->error_percent());
  });
  to.add_metric("validate.rows_run", Number::count(compared_.size()), "");
  to.add_metric("validate.rows_skipped", Number::count(skipped_.size()), "");
  const auto whole = errors_of(all);
  to.add_metric("validate.mape_percent", number(whole.mape), "%");
  to.add_metric("validate.median_percent", number(whole.median), "%");
  to.add_metric("validate.bias_percent", number(whole.bias), "%");
  auto& rows = to.add_table("rows, the farthest first",
                            {"id", "sku", "configuration", "operator", "shape", "type", "l2",
                             "measured", "predicted", "unit", "error %", "bound by", "left out"});
  for (const auto* row : all) {
    const auto& m = *row->row;
    rows.rows.push_back({m.id, m.sku, row->operation.configuration, m.op, m.shape,
                         m.types.empty() ? "" : m.types[0], m.cache, m.text,
                         text_of(row->predicted), m.unit, text_of(row->error_percent()), row->bound,
                         row->operation.left_out});
  }
  auto& table =
      to.add_table("operators, in percent", {"sku", "operator", "rows", "MAPE", "median", "bias"});
  for (const auto& [group, members] : groups()) {
    const auto errors = errors_of(members);
    table.rows.push_back({group.first, group.second, std::to_string(errors.rows),
                          text_of(errors.mape), text_of(errors.median), text_of(errors.bias)});
    add_errors(to, fmt::format("validate.{}.{}.", name_of(group.first), name_of(group.second)),
               errors);
  }
  report_steps(to);
  report_bands(to);
  if (skipped_.empty()) return;
  auto& skipped = to.add_table("not run", {"id", "sku", "operator", "reason"});
  for (const auto& row : skipped_) {
    skipped.rows.push_back({row.row->id, row.row->sku, row.row->op, row.reason});
  }
}

}  // namespace npu::validate
