// SPDX-License-Identifier: Apache-2.0
// Arguments of the AICPU program `tensors` (firmware/tensors): one operation on each element of
// tensors whose types the AI Cores have no instructions for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace npu::abi {

enum class TensorNumber : std::uint8_t {
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBool,  // a byte; not 0: true
};

enum class TensorOperation : std::uint8_t {
  kCast,  // of a; reals into integers lose their fraction; bounds saturate, what is no number is 0
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,   // integers: towards 0; by 0: 0
  kMaximum,  // what is no number stays so
  kMinimum,
  kEqual,  // comparisons: 1 or 0
  kGreater,
  kGreaterOrEqual,
  kModulo,     // with the sign of b; by 0: 0 of integers
  kRemainder,  // with the sign of a; by 0: 0 of integers
  kPower,      // integers: 0 for a negative power, but of 1 and -1
  kShiftLeft,  // of integers without a sign; by their bits or more: 0
  kShiftRight,
  kExponential,  // of a, as those that follow; integers are refused
  kLogarithm,
  kSquareRoot,
  kSine,
  kCosine,
  kTangent,
  kArcSine,
  kArcCosine,
  kArcTangent,
  kHyperbolicSine,
  kHyperbolicCosine,
  kHyperbolicTangent,
  kArcHyperbolicSine,
  kArcHyperbolicCosine,
  kArcHyperbolicTangent,
};

inline constexpr unsigned kTensorAxes = 8;

// The program ends with 1 for an operation, a type or a number of axes that there is not.
struct TensorWork {
  std::uint64_t a = 0, b = 0, result = 0;  // device addresses; b of two operands
  std::uint8_t operation = 0;              // TensorOperation
  std::uint8_t operand = 0;                // TensorNumber, of a and b
  std::uint8_t into = 0;                   // TensorNumber, of the result
  std::uint8_t axes = 0;                   // 0 to kTensorAxes
  std::uint32_t reserved = 0;
  // Of the result, which lies row by row, and how many elements a step along an axis goes on in a
  // and b; 0: the axis is repeated.
  std::array<std::uint64_t, kTensorAxes> sides{}, a_strides{}, b_strides{};
};
static_assert(sizeof(TensorWork) == 32 + 3 * 8 * kTensorAxes);

}  // namespace npu::abi
