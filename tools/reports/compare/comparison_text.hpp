// SPDX-License-Identifier: Apache-2.0
// What is different, for people.
#pragma once

#include <string>

#include "tools/reports/compare/comparison.hpp"

namespace npu::reports {

// One line if nothing is; else a heading with the result, a table per verdict, and what the reports
// are of where that is not the same.
std::string to_text(const Comparison& comparison);
std::string to_markdown(const Comparison& comparison);

// "3 regressions, 12 other changes"; "identical"
std::string summary(const Comparison& comparison);
// "1 %", "0.5", "any": how much worse is allowed.
std::string allowed_text(const Judgement& judgement);
// What changed from what to what, and why, in one line.
std::string line_text(const Change& change);

}  // namespace npu::reports
