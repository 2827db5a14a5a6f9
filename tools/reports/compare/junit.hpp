// SPDX-License-Identifier: Apache-2.0
// A comparison as a test report, for continuous integration.
#pragma once

#include <string>

#include "tools/reports/compare/comparison.hpp"

namespace npu::reports {

// JUnit's XML: one suite, a case per metric and counter that a threshold bounds or that changed;
// regressions are failures, and so is
// what is to be looked at, of type "look". With nothing of that one case, "compare", that passes.
std::string to_junit(const Comparison& comparison);

// Text between tags or in an attribute; characters that XML 1.0 has not become U+FFFD.
std::string xml_text(const std::string& text);

}  // namespace npu::reports
