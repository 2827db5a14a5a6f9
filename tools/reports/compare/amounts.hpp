// SPDX-License-Identifier: Apache-2.0
// Arithmetic between numbers of different decimals, exact.
#pragma once

#include <cstdint>
#include <string>

#include "tools/reports/compare/thresholds.hpp"
#include "tools/reports/number.hpp"

namespace npu::reports {

// With the decimals of the finer of the two; what does not fit becomes the largest number there is.
Number difference(Number from, Number to);
// The distance is more than the tolerance allows from `base` on.
bool exceeds(Number base, Number now, const Tolerance& tolerance);
// The distance in hundredths of a percent of `base`; the largest number for a base of 0.
std::int64_t share(Number base, Number now);
// "+1.000"
std::string signed_text(Number number);

}  // namespace npu::reports
