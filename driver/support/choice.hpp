// SPDX-License-Identifier: Apache-2.0
// Enumerators of a caller's: anything may be in them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "npu/base/result.hpp"

namespace npu::driver {

// kInvalidArgument with `field` and value: not one of `first` .. `last`.
template <class Enum>
Status check_choice(std::string_view field, Enum value, Enum last, Enum first = Enum{}) {
  using Number = std::underlying_type_t<Enum>;
  const auto number = static_cast<std::int64_t>(static_cast<Number>(value));
  const auto lowest = static_cast<std::int64_t>(static_cast<Number>(first));
  const auto highest = static_cast<std::int64_t>(static_cast<Number>(last));
  if (number >= lowest && number <= highest) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} is {}, {} .. {} are possible", field, number, lowest, highest));
}

}  // namespace npu::driver
