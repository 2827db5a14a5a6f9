// SPDX-License-Identifier: Apache-2.0
// One row of a vector instruction, as the functions get it that work on its bytes.
#pragma once

#include <cstdint>

#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

// What an operator has beside `a`.
enum class SecondOperand : std::uint8_t {
  kNone,
  kRow,      // b, as many elements as a
  kElement,  // b, one element per row
  kScalar,   // Vector::scalar
};

// Where the row lies of the result and of each operand; of one that there is not, anything.
struct Row {
  unsigned char* to;
  const unsigned char *a, *b, *mask;
};

// Makes one row of the result.
using RowFunction = void (*)(const platform::Vector& vector, SecondOperand second, const Row& row);

}  // namespace npu::model::arithmetic
