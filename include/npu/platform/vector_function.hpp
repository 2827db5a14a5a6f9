// SPDX-License-Identifier: Apache-2.0
// A vector function: operations on registers in one loop over rows of elements, as one instruction
// of the vector pipe (docs/sources/950.md, N1 to N5). Only cores whose
// AicorePort::has_vector_functions() is true have it.
//
// For each row and each register's worth of its elements the function loads, does its steps in
// order, and stores. A step is element by element, or brings a row together into one number. What
// is computed in between stays in registers. The next function begins when this one has ended.
//
// A function by columns takes all rows for one register's worth of columns before the next one.
// Registers keep what they have from row to row; what all rows share is loaded before the first
// row and stored behind the last one. Masks are set once for all rows. It brings no row together
// and has no numbers of rows.
//
// A function that is wrong stops the core with abi::FaultCode
// - kInstruction: the core has none; a count or number is out of range; a step's operation, type or
//   register is none; a register is read that nothing was written to; a cast in its place; a store
//   on a load that is still to be read; by columns, a reduction or a number of a row;
// - kLocalAlignment: an offset or pitch is no multiple of 32;
// - kLocalBuffer: a tensor is not in UB.
#pragma once

#include "npu/platform/aicore_port.hpp"

namespace npu::platform {

inline constexpr unsigned kVectorRegisters = 32;      // 950.md N1
inline constexpr unsigned kMaskRegisters = 8;         // 950.md N1
inline constexpr unsigned kMostFunctionTensors = 32;  // loads and stores of a function
inline constexpr unsigned kMostFunctionSteps = 256;

// Rows of a tensor in UB.
enum class FunctionRows : std::uint8_t {
  kOwn,     // a row for each row
  kShared,  // one row for all; stores by columns only
  kNumber,  // a number for each row, one behind the other: loaded into all elements; stored as the
            // first one
};

// A tensor and the register it is loaded to or stored from, bits as they are.
struct FunctionTensor {
  std::uint32_t offset = 0;
  std::uint32_t pitch = 0;  // bytes between rows of kOwn; 0: dense
  DataType type = DataType::kFp32;
  FunctionRows rows = FunctionRows::kOwn;
  std::uint8_t reg = 0;
};

// Operations are those of Vector but kTranspose, kDeinterleave and kBroadcast..., on registers.
// kReduce... leave the row's number in the first element of `to`. kDuplicate happens once. kCompare
// and kCompares write mask register `to`. kMax and kMin know kBf16, too, and of reals of which one
// is no number give that (assumed: the library's kernels select nothing behind them, 950.md N7).
struct FunctionStep {
  VectorOp op = VectorOp::kCopy;
  DataType type = DataType::kFp32;     // as Vector has it
  DataType to_type = DataType::kFp32;  // of kCast
  Comparison comparison = Comparison::kLess;
  std::uint8_t to = 0, a = 0, b = 0;  // registers; kCast: `to` is not `a`
  std::uint8_t mask = 0;              // of kSelect and kSelects
  float scalar = 0;
};

// What the pointers point to, issue() copies.
struct VectorFunction {
  const FunctionTensor* loads = nullptr;
  const FunctionStep* steps = nullptr;
  const FunctionTensor* stores = nullptr;
  std::uint32_t load_count = 0, step_count = 0, store_count = 0;
  std::uint32_t count = 0;  // elements of a row
  std::uint32_t rows = 1;
  bool by_columns = false;
};

}  // namespace npu::platform
