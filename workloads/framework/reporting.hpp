// SPDX-License-Identifier: Apache-2.0
// The report's vocabulary, by its names alone, for whoever measures.
#pragma once

#include "tools/reports/number.hpp"
#include "tools/reports/report.hpp"

namespace npu::workloads {

using reports::Breakdown;
using reports::Limit;
using reports::Metric;
using reports::NamedValue;
using reports::Number;
using reports::Report;
using reports::size_name;
using reports::Table;

}  // namespace npu::workloads
