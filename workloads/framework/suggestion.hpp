// SPDX-License-Identifier: Apache-2.0
// What is said to who has mistyped a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::workloads {

// "; did you mean 'x'?", or "; known: a, b, c" when nothing is near
// (npu/base/nearest_name.hpp).
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace npu::workloads
