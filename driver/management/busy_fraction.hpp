// SPDX-License-Identifier: Apache-2.0
// Percent of an interval that units were busy.
#pragma once

#include <algorithm>
#include <cstdint>

namespace npu::driver {

// `busy` of `units` units in `elapsed`, all in one unit of time; rounded, 100 at most: what is
// counted ahead, or read a little later than the time, is no more than all. 0 of no time.
constexpr unsigned busy_percent(std::uint64_t busy, std::uint64_t elapsed, std::uint64_t units) {
  const auto whole = static_cast<double>(elapsed) * static_cast<double>(units);
  if (whole <= 0) return 0;
  return static_cast<unsigned>(std::min(100.0, static_cast<double>(busy) * 100 / whole + 0.5));
}

// What a counter that begins anew with a reset has counted since `before`.
constexpr std::uint64_t counted_since(std::uint64_t before, std::uint64_t now, bool reset) {
  return reset || now < before ? now : now - before;
}

}  // namespace npu::driver
