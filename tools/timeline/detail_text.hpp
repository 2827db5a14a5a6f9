// SPDX-License-Identifier: Apache-2.0
// The fields of an event's `detail` as text, by the table of activity.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/platform/activity.hpp"

namespace npu::timeline {

constexpr std::uint64_t field_value(const platform::DetailField& field, std::uint64_t detail) {
  const std::uint64_t value = detail >> field.shift;
  return field.bits >= 64 ? value : value & ((std::uint64_t{1} << field.bits) - 1);
}

// As JSON: a number, or a word or address in quotes: "0x1000", "H2D", "device address not mapped",
// "01:00.0", "none". What an enumeration does not know is a number in quotes. At `to`, with room
// for kLongestField bytes; returns its end.
constexpr std::size_t kLongestField = 160;
char* put_field(char* to, const platform::DetailField& field, std::uint64_t detail);

}  // namespace npu::timeline
