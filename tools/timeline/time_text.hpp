// SPDX-License-Identifier: Apache-2.0
// Simulated times as a command line has them: "2.5us".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "npu/base/units.hpp"

namespace npu::timeline {

// Decimal digits, perhaps a point among them, and a unit: ps, ns, us, ms or s. Nothing if it is not
// of that form, is finer than 1 ps or longer than 100 days.
std::optional<Picoseconds> parse_time(std::string_view text);

// A whole number of the largest unit that it is a whole number of: "2500ns". parse_time() reads it.
std::string exact_time_text(Picoseconds time);

}  // namespace npu::timeline
