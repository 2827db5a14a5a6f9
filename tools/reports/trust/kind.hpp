// SPDX-License-Identifier: Apache-2.0
// The kinds of what bounds a kernel: "cube", "vector", "memory", "scalar", "launch".
#pragma once

#include <string>
#include <vector>

#include "tools/reports/report.hpp"

namespace npu::reports {

// Of a limit's name; empty: it is none of a kernel.
std::string kind_of_limit(const std::string& name);

// The kind that takes most of the time of the limits of `subject`; empty: there are none.
std::string bound_of(const std::vector<Limit>& limits, const std::string& subject);

}  // namespace npu::reports
