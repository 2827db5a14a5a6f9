// SPDX-License-Identifier: Apache-2.0
// Where elements of a matrix lie, by the layout's name.
#pragma once

#include <cstdint>
#include <string_view>

#include "npu/platform/aicore_port.hpp"

namespace npu::operators {

// Elements that a matrix of `rows` x `columns` takes, with the padding of fractals.
std::uint64_t stored_elements(std::string_view layout, platform::DataType type, std::uint64_t rows,
                              std::uint64_t columns);
// Which of those is (row, column).
std::uint64_t stored_index(std::string_view layout, platform::DataType type, std::uint64_t rows,
                           std::uint64_t columns, std::uint64_t row, std::uint64_t column);

}  // namespace npu::operators
