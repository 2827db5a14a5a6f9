// SPDX-License-Identifier: Apache-2.0
// Decimal numbers as reports and sweeps spell them, compared exactly: floating point would make two
// of them equal that are not.
#pragma once

#include <string>
#include <string_view>

namespace npu::sweep {

// "12", "-0.250"; digits, at most one point with digits on both sides, at most one minus.
bool is_decimal(std::string_view text);

// Of two that is_decimal() takes: below 0, 0 or above 0 as a is less than, equal to or more than b.
int compare_decimals(std::string_view a, std::string_view b);

}  // namespace npu::sweep
