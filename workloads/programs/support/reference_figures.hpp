// SPDX-License-Identifier: Apache-2.0
// What other simulators measured (configs/hbm/replay/reference.csv).
#pragma once

#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

struct ReferenceFigure {
  std::string tool;
  std::string pattern;
  std::uint64_t outstanding = 0;  // 0: saturated
  std::uint64_t requests = 0;
  Bytes request_bytes = 0;
  std::uint64_t clocks = 0;  // from begin to end
  Number latency_ns;         // mean; three decimals
};

// Lines of "tool,pattern,outstanding,requests,request_bytes,clocks,bandwidth_fraction,latency_ns"
// after that heading; '#' begins a comment. kInvalidArgument with file and line.
Result<std::vector<ReferenceFigure>> read_reference_figures(const std::string& path);

// 100 * (ours - theirs) / theirs with three decimals; both have the same number of decimals.
Number error_percent(const Number& ours, const Number& theirs);

}  // namespace npu::workloads
