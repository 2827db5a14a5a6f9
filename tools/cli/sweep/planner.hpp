// SPDX-License-Identifier: Apache-2.0
// From the points of a sweep's file to runs that are known to be possible: the checks of `run`, all
// but simulating.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/config/system_config.hpp"
#include "tools/cli/failure.hpp"
#include "tools/cli/sweep/grid.hpp"
#include "tools/cli/sweep/planned_point.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::sweep {

class Planner {
 public:
  // That the workload is known and every key a parameter of it or a key of the configuration, once.
  // `spec` outlives the planner.
  static tl::expected<Planner, cli::Failure> make(const SweepSpec& spec);

  const std::vector<Axis>& axes() const { return axes_; }
  // Bad input, with the place in the sweep's file.
  tl::expected<PlannedPoint, cli::Failure> plan(const GridPoint& point);
  // All of them, and that no two are the same run and objectives that are axes are numbers.
  tl::expected<std::vector<PlannedPoint>, cli::Failure> plan_all();

 private:
  // What of a resolved configuration is needed for a point.
  struct Machine {
    std::string sha256;
    std::vector<model::ReplacedKey> replaced;
    std::size_t cards = 0;
  };
  Planner(const SweepSpec& spec, const workloads::Workload& workload);
  cli::Outcome add_axis(const PlacedText& key);
  tl::expected<Machine, cli::Failure> load(const GridPoint& point,
                                           const std::vector<std::string>& overrides);
  cli::Outcome check_objectives(const std::vector<PlannedPoint>& points) const;
  // Names that the sweep gives to metrics are not those of the table's other columns.
  cli::Outcome check_columns() const;
  // At the setting that the problem names, if it does.
  cli::Failure at_point(const GridPoint& point, const std::string& problem) const;
  cli::Failure at_point(const GridPoint& point, const PlacedText& where,
                        const std::string& problem) const;
  cli::Failure same_run(const PlannedPoint& first, const GridPoint& point) const;
  std::vector<Cell> cells_of(const GridPoint& point, const workloads::ParameterSet& parameters,
                             const Machine& machine) const;

  const SweepSpec* spec_;
  const workloads::Workload* workload_;
  Grid grid_;
  std::vector<Axis> axes_;
  std::map<std::string, Machine> machines_;     // by configuration and overrides
  std::map<std::string, std::string> digests_;  // of input files
};

}  // namespace npu::sweep
