// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/vector_operators.hpp"

#include "model/aicore/arithmetic/element_rows.hpp"
#include "model/aicore/arithmetic/vector_bits.hpp"

namespace npu::model {

namespace {

using arithmetic::Absolute;
using arithmetic::Difference;
using arithmetic::element_row;
using arithmetic::Exponential;
using arithmetic::Inverse;
using arithmetic::InverseRoot;
using arithmetic::Larger;
using arithmetic::Logarithm;
using arithmetic::Product;
using arithmetic::Quotient;
using arithmetic::reduced_row;
using arithmetic::Relu;
using arithmetic::Root;
using arithmetic::Smaller;
using arithmetic::Sum;
using Op = platform::VectorOp;
using Types = VectorTypes;
using Second = arithmetic::SecondOperand;
using Result = VectorResult;
using Cost = VectorConfig;

constexpr std::array<VectorOperator, platform::kVectorOps> kRows = {{
    // clang-format off
    // operator, types, second operand, result, cost, what it does; reads a, reads a mask
    {Op::kAdd, Types::kComputed, Second::kRow, Result::kRow, &Cost::add, element_row<Sum>},
    {Op::kSub, Types::kComputed, Second::kRow, Result::kRow, &Cost::add, element_row<Difference>},
    {Op::kMul, Types::kComputed, Second::kRow, Result::kRow, &Cost::mul, element_row<Product>},
    {Op::kDiv, Types::kReal, Second::kRow, Result::kRow, &Cost::div, element_row<Quotient>},
    {Op::kMax, Types::kComputedOrInt64, Second::kRow, Result::kRow, &Cost::max, element_row<Larger>},
    {Op::kMin, Types::kComputedOrInt64, Second::kRow, Result::kRow, &Cost::max, element_row<Smaller>},
    {Op::kAdds, Types::kComputed, Second::kScalar, Result::kRow, &Cost::scalar, element_row<Sum>},
    {Op::kMuls, Types::kComputed, Second::kScalar, Result::kRow, &Cost::scalar, element_row<Product>},
    {Op::kMaxs, Types::kComputed, Second::kScalar, Result::kRow, &Cost::scalar, element_row<Larger>},
    {Op::kMins, Types::kComputed, Second::kScalar, Result::kRow, &Cost::scalar, element_row<Smaller>},
    {Op::kExp, Types::kReal, Second::kNone, Result::kRow, &Cost::exp, element_row<Exponential>},
    {Op::kLn, Types::kReal, Second::kNone, Result::kRow, &Cost::ln, element_row<Logarithm>},
    {Op::kSqrt, Types::kReal, Second::kNone, Result::kRow, &Cost::sqrt, element_row<Root>},
    {Op::kRsqrt, Types::kReal, Second::kNone, Result::kRow, &Cost::rsqrt, element_row<InverseRoot>},
    {Op::kAbs, Types::kComputed, Second::kNone, Result::kRow, &Cost::unary, element_row<Absolute>},
    {Op::kRelu, Types::kComputed, Second::kNone, Result::kRow, &Cost::unary, element_row<Relu>},
    {Op::kReciprocal, Types::kReal, Second::kNone, Result::kRow, &Cost::reciprocal, element_row<Inverse>},
    {Op::kDuplicate, Types::kAll, Second::kScalar, Result::kRow, &Cost::duplicate, arithmetic::duplicate_row, false},
    {Op::kCopy, Types::kAll, Second::kNone, Result::kRow, &Cost::copy, arithmetic::copy_row},
    {Op::kCast, Types::kConverted, Second::kNone, Result::kOtherType, &Cost::cast, arithmetic::cast_row},
    {Op::kReduceSum, Types::kComputed, Second::kNone, Result::kElement, &Cost::reduce, reduced_row<Sum>},
    {Op::kReduceMax, Types::kComputed, Second::kNone, Result::kElement, &Cost::reduce, reduced_row<Larger>},
    {Op::kBroadcastSub, Types::kComputed, Second::kElement, Result::kRow, &Cost::add, element_row<Difference>},
    {Op::kBroadcastMul, Types::kComputed, Second::kElement, Result::kRow, &Cost::mul, element_row<Product>},
    {Op::kBroadcastDiv, Types::kReal, Second::kElement, Result::kRow, &Cost::div, element_row<Quotient>},
    {Op::kReduceMin, Types::kComputed, Second::kNone, Result::kElement, &Cost::reduce, reduced_row<Smaller>},
    {Op::kExpPrecise, Types::kReal, Second::kNone, Result::kRow, &Cost::exp_precise, element_row<Exponential>},
    {Op::kAnd, Types::kAll, Second::kRow, Result::kRow, &Cost::bitwise, arithmetic::and_row},
    {Op::kOr, Types::kAll, Second::kRow, Result::kRow, &Cost::bitwise, arithmetic::or_row},
    {Op::kCompare, Types::kComputed, Second::kRow, Result::kMask, &Cost::compare, arithmetic::compare_row},
    {Op::kCompares, Types::kComputed, Second::kScalar, Result::kMask, &Cost::compare, arithmetic::compare_row},
    {Op::kSelect, Types::kAll, Second::kRow, Result::kRow, &Cost::select, arithmetic::select_row, true, true},
    {Op::kSelects, Types::kAll, Second::kScalar, Result::kRow, &Cost::select, arithmetic::select_row, true, true},
    {Op::kTranspose, Types::kAll, Second::kNone, Result::kTransposed, &Cost::transpose, nullptr},
    {Op::kBroadcast, Types::kAll, Second::kElement, Result::kRow, &Cost::copy, arithmetic::broadcast_row, false},
    {Op::kAxpy, Types::kReal, Second::kRow, Result::kRow, &Cost::mul, arithmetic::axpy_row},
    {Op::kDeinterleave, Types::kAll, Second::kNone, Result::kMoved, &Cost::copy, arithmetic::deinterleave_row},
    // clang-format on
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "rows are in the order of the enumerators");

}  // namespace

const std::array<VectorOperator, platform::kVectorOps> kVectorOperators = kRows;

namespace {

bool of_integers(platform::DataType type) {
  using platform::DataType;
  return type != DataType::kFp16 && type != DataType::kBf16 && type != DataType::kFp32;
}

}  // namespace

const VectorCost& cost_of(const VectorConfig& config, Op op, platform::DataType type,
                          platform::DataType to_type) {
  const VectorOperator& row = operator_of(op);
  if (row.types == Types::kComputedOrInt64 && type == platform::DataType::kInt64) {
    return config.int64;
  }
  const bool cast = row.result == Result::kOtherType;
  if (cast && (of_integers(type) || of_integers(to_type))) return config.cast_integer;
  return config.*row.cost;
}

}  // namespace npu::model
