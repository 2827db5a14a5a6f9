// SPDX-License-Identifier: Apache-2.0
// What npusim runs to predict a measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "tools/cli/validate/measurement.hpp"

namespace npu::validate {

enum class Interval : std::uint8_t {
  kDevice,  // from the dispatch of the first block to the report of the last
  kWall,    // from the driver's submission until the host has seen the completion
  kPipes,   // from the first copy's begin to the last copy's end, as a kernel's own counter sees it
};

struct Operation {
  std::string configuration;
  std::string workload;
  std::vector<std::pair<std::string, std::string>> settings;  // of the workload
  std::string device_metric, wall_metric, pipes_metric;       // of its report, in us; empty: none
  std::string left_out;   // of the measured operator and not of the run, or assumed; empty: nothing
  double bytes = 0;       // that the measured rate counts; 0: unknown
  double operations = 0;  // the same
  // Of another run of the workload, by whose time a fraction is; empty: there is none.
  std::vector<std::pair<std::string, std::string>> reference = {};
  std::optional<Interval> interval = std::nullopt;  // another one than the metric's
  std::string metric = {};                          // the one of the two that is compared
  // Of a metric that is not in us: what the row does not count, and from its unit to the row's.
  double minus = 0, scale = 0;
  // If the figure is no single metric, but a sum of several times factors.
  std::vector<std::pair<std::string, double>> terms = {};
};

// The error is why npusim cannot run it.
tl::expected<Operation, std::string> operation_of(const Measurement& row);

// Of a run of so many microseconds, or of the metric's unit, above 0, in the unit of the row;
// `reference`: of the other run.
double predicted(const Measurement& row, const Operation& operation, double microseconds,
                 double reference = 0);

// Microseconds in a unit of time; 0: it is none.
double microseconds_in(std::string_view unit);

}  // namespace npu::validate
