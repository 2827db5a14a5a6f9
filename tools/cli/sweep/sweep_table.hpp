// SPDX-License-Identifier: Apache-2.0
// What a sweep has found out, for spreadsheets and for the page (docs/sweeps.md). It depends on the
// points and their reports only, not on when or where they ran.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/sweep/planned_point.hpp"
#include "tools/cli/sweep/point_folder.hpp"
#include "tools/cli/sweep/sweep_spec.hpp"

namespace npu::sweep {

class SweepTable {
 public:
  // `spec` outlives the table. Objectives are metrics unless an axis has their name.
  SweepTable(const SweepSpec& spec, std::string version, std::vector<Axis> axes);

  // In the order of their numbers. Neither report nor failure: the point has not run.
  void add(const PlannedPoint& point, const std::optional<reports::Report>& report,
           const std::optional<RunFailure>& failure);

  // A line per point: axes, status, pareto if there are objectives, metrics.
  std::string csv() const;
  std::string json() const;

  // What the file says of metrics and the reports do not bear out: a name or pattern that stands
  // for no metric of any report, or a named one that stands for several of one report.
  std::optional<model::ConfigError> mistake() const;
  std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::size_t number = 0;
    std::string name, status;
    std::vector<Cell> cells;
    std::map<std::size_t, std::string> values;  // by metric
    std::optional<RunFailure> failure;
  };
  struct Column {
    std::string name, unit;
    bool shown = false;
  };
  void add_metric(Row& row, const reports::Metric& metric, bool shown_by_default);
  const std::size_t* column(const std::string& name) const;
  bool is_axis(const std::string& name) const;
  bool wanted(const std::string& metric, bool by_default) const;
  std::vector<std::optional<bool>> pareto() const;
  std::string axis_json(std::size_t axis, const std::map<Cell, std::size_t>& index) const;
  std::string row_json(const Row& row, const std::vector<std::map<Cell, std::size_t>>& indices,
                       const std::optional<bool>& pareto) const;

  const SweepSpec& spec_;
  std::string version_;
  std::vector<Axis> axes_;
  std::vector<Column> metrics_;
  std::map<std::string, std::size_t> named_;    // columns that the file names
  std::map<std::string, std::size_t> by_name_;  // of metrics by their own name
  std::optional<model::ConfigError> ambiguous_;
  std::vector<Row> rows_;
};

// The line with `cells` as RFC 4180 has it.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace npu::sweep
