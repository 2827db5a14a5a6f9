// SPDX-License-Identifier: Apache-2.0
// What vector instructions do that make or use masks, or move, convert or combine bits: one row
// each, of an instruction that the core has (instruction_checks.hpp).
#pragma once

#include "model/aicore/arithmetic/vector_row.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

// vector.scalar as an element; up to 8 bytes.
void scalar_element(const platform::Vector& vector, unsigned char* element);

void compare_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void select_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void and_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void or_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void duplicate_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void broadcast_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void deinterleave_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void copy_row(const platform::Vector& vector, SecondOperand second, const Row& row);
void cast_row(const platform::Vector& vector, SecondOperand second, const Row& row);

// All rows; pitches in bytes.
void transpose(const platform::Vector& vector, unsigned char* to, Bytes to_pitch,
               const unsigned char* a, Bytes a_pitch);

}  // namespace npu::model::arithmetic
