// SPDX-License-Identifier: Apache-2.0
// {from, to, step} or {from, to, factor} as the values that it stands for.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace npu::sweep {

inline constexpr std::size_t kMostPoints = 100'000;  // of a sweep, and so of a range

struct ValueRange {
  std::string from, to;  // integers, sizes (64B, 4KiB) or decimals (0.75)
  std::string step;      // as those, above 0; or empty
  std::string factor;    // an integer from 2; or empty
};

// From `from` on, as long as `to` is not passed: integers, sizes as "4KiB" if one of the numbers
// has a unit, or decimals with as many digits as the longest given. An error says what is wrong.
tl::expected<std::vector<std::string>, std::string> values_of(const ValueRange& range);

}  // namespace npu::sweep
