// SPDX-License-Identifier: Apache-2.0
// Where on the card a new virtual device's cores, AICPUs and memory lie: in the smallest free run
// that holds them, at its end, so that what is left stays in one piece. Touches nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/driver/virtual_functions.hpp"

namespace npu::driver {

struct PlacedRange {
  std::uint64_t begin = 0, size = 0;
};

// Free runs of [0, total), the smallest first and equal ones from the end of the card on. `taken`
// lie inside and may overlap.
std::vector<PlacedRange> free_runs(std::uint64_t total, std::vector<PlacedRange> taken);

// Nothing: no run is that long.
std::optional<std::uint64_t> place_run(std::uint64_t total, const std::vector<PlacedRange>& taken,
                                       std::uint64_t size);

// Where memory of `size` may be tried for, the best place first: some of it may be in use.
std::vector<Bytes> memory_places(Bytes total, const std::vector<PlacedRange>& taken, Bytes size);

// What of `wanted` there is not enough of, as text; empty: of nothing.
std::string missing(const CardPartition& wanted, const CardPartition& left);

}  // namespace npu::driver
