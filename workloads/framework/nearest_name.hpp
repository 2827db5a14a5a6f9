// SPDX-License-Identifier: Apache-2.0
// The name a person probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::workloads {

// The candidate with the fewest edits (insert, delete, replace, swap of neighbours), if at most a
// third of `name` (and at least two edits are allowed); empty otherwise. Ties: the first candidate.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// "; did you mean 'x'?", or "; known: a, b, c" when nothing is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace npu::workloads
