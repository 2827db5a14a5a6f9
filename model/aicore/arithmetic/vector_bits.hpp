// SPDX-License-Identifier: Apache-2.0
// What vector instructions do that make or use masks, move or combine bits, or know int64: one row
// each, of an instruction that the core has (instruction_checks.hpp).
#pragma once

#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

// vector.scalar as an element; up to 8 bytes.
void scalar_element(const platform::Vector& vector, unsigned char* element);

void compare_row(const platform::Vector& vector, unsigned char* mask, const unsigned char* a,
                 const unsigned char* b);
void select_row(const platform::Vector& vector, unsigned char* to, const unsigned char* a,
                const unsigned char* b, const unsigned char* mask);
void combine_row(const platform::Vector& vector, unsigned char* to, const unsigned char* a,
                 const unsigned char* b);
// kMax and kMin of int64.
void extreme_row(const platform::Vector& vector, unsigned char* to, const unsigned char* a,
                 const unsigned char* b);
// All rows; pitches in bytes.
void transpose(const platform::Vector& vector, unsigned char* to, Bytes to_pitch,
               const unsigned char* a, Bytes a_pitch);

}  // namespace npu::model::arithmetic
