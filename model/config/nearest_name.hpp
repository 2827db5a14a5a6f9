// SPDX-License-Identifier: Apache-2.0
// The name a person probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::model {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest distance, if that is at most a third of `name` (two edits are
// always allowed); empty otherwise. Ties go to the first.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace npu::model
