// SPDX-License-Identifier: Apache-2.0
// The notation of parameter values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npu::workloads {

// "a,b,c" -> {"a", "b", "c"}; empty elements are kept, so that they are found and reported.
std::vector<std::string> split_list(std::string_view text);

std::optional<std::uint64_t> parse_integer(std::string_view text);  // decimal digits only
std::optional<std::uint64_t> parse_size(std::string_view text);     // with B, KiB, MiB, GiB, TiB
std::optional<std::uint64_t> parse_flag(std::string_view text);     // 0 or 1

// "first..last" of values that `parse_one` reads: first, 2 first, 4 first ... up to last.
// Anything else is read as one value. Empty: not readable.
std::vector<std::uint64_t> parse_range(std::string_view text,
                                       std::optional<std::uint64_t> (*parse_one)(std::string_view));

}  // namespace npu::workloads
