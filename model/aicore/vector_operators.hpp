// SPDX-License-Identifier: Apache-2.0
// The operators of the vector unit, one row each: types it computes in, operands, shape of its
// result, what it costs, and what it does to bytes. Checks, times and arithmetic all read this
// table; a new operator is its enumerator (platform/aicore_port.hpp) and its row.
#pragma once

#include <array>
#include <cstdint>

#include "model/aicore/arithmetic/vector_row.hpp"
#include "model/config/program_core_config.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

enum class VectorTypes : std::uint8_t {
  kAll,              // bits are only moved or combined
  kConverted,        // kCast: all but int64
  kComputed,         // fp16, fp32, int32
  kComputedOrInt64,  // and int64, which the unit emulates at a cost of its own
  kReal,             // fp16, fp32
};

// A row of the result.
enum class VectorResult : std::uint8_t {
  kRow,         // as many elements as a row of `a`
  kElement,     // one element
  kMask,        // one bit per element
  kOtherType,   // as many elements, of Vector::to_type
  kTransposed,  // an element of every row of `a`
  kMoved,       // as many elements, from other places of the row
};

struct VectorOperator {
  platform::VectorOp op;
  VectorTypes types;
  arithmetic::SecondOperand second;
  VectorResult result;
  VectorCost VectorConfig::*cost;
  arithmetic::RowFunction row;  // nullptr: kTransposed, which is no matter of rows
  bool reads_a = true;
  bool reads_mask = false;
};

extern const std::array<VectorOperator, platform::kVectorOps> kVectorOperators;

// `op` is one of the enumerators.
inline const VectorOperator& operator_of(platform::VectorOp op) {
  return kVectorOperators[static_cast<std::size_t>(op)];
}

// What an operation on such operands costs; `to_type`: of kCast.
const VectorCost& cost_of(const VectorConfig& config, platform::VectorOp op,
                          platform::DataType type, platform::DataType to_type);

}  // namespace npu::model
