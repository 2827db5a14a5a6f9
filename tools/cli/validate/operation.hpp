// SPDX-License-Identifier: Apache-2.0
// What npusim runs to predict a measurement.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "tools/cli/validate/measurement.hpp"

namespace npu::validate {

struct Operation {
  std::string configuration;
  std::string workload;
  std::vector<std::pair<std::string, std::string>> settings;  // of the workload
  std::string metric;                                         // of its report, in us
  std::string left_out;  // of the measured operator and not of the run; empty: nothing
};

// The error is why npusim cannot run it.
tl::expected<Operation, std::string> operation_of(const Measurement& row);

// Microseconds in a unit of time; 0: it is none.
double microseconds_of(const std::string& unit);

}  // namespace npu::validate
