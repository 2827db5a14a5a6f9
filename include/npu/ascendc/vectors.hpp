// SPDX-License-Identifier: Apache-2.0
// Operations of the vector unit on `count` elements in UB, an instruction each.
#pragma once

#include "npu/ascendc/tensor.hpp"

namespace npu::ascendc {

using platform::VectorOp;

template <class T>
void vector(VectorOp op, const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>* a,
            const AscendC::LocalTensor<T>* b, float scalar, std::int32_t count) {
  static_assert(type_of<T>() != kOnlyBytes, "no unit computes in this type");
  platform::Vector instruction;
  instruction.op = op;
  instruction.type = instruction.to_type = type_of<T>();
  instruction.to = in_ub(to);
  if (a != nullptr) instruction.a = in_ub(*a);
  if (b != nullptr) instruction.b = in_ub(*b);
  instruction.scalar = scalar;
  instruction.count = static_cast<std::uint32_t>(count);
  issue(instruction);
}

}  // namespace npu::ascendc

namespace AscendC {

#define NPU_ASCENDC_BINARY(name, op)                                                    \
  template <class T>                                                                    \
  void name(const LocalTensor<T>& to, const LocalTensor<T>& a, const LocalTensor<T>& b, \
            std::int32_t count) {                                                       \
    npu::ascendc::vector(npu::ascendc::VectorOp::op, to, &a, &b, 0, count);             \
  }
NPU_ASCENDC_BINARY(Add, kAdd)
NPU_ASCENDC_BINARY(Sub, kSub)
NPU_ASCENDC_BINARY(Mul, kMul)
NPU_ASCENDC_BINARY(Div, kDiv)
NPU_ASCENDC_BINARY(Max, kMax)
NPU_ASCENDC_BINARY(Min, kMin)
NPU_ASCENDC_BINARY(And, kAnd)
NPU_ASCENDC_BINARY(Or, kOr)
#undef NPU_ASCENDC_BINARY

#define NPU_ASCENDC_SCALAR(name, op)                                                 \
  template <class T, class Scalar>                                                   \
  void name(const LocalTensor<T>& to, const LocalTensor<T>& a, const Scalar& scalar, \
            std::int32_t count) {                                                    \
    npu::ascendc::vector<T>(npu::ascendc::VectorOp::op, to, &a, nullptr,             \
                            static_cast<float>(scalar), count);                      \
  }
NPU_ASCENDC_SCALAR(Adds, kAdds)
NPU_ASCENDC_SCALAR(Muls, kMuls)
NPU_ASCENDC_SCALAR(Maxs, kMaxs)
NPU_ASCENDC_SCALAR(Mins, kMins)
#undef NPU_ASCENDC_SCALAR

#define NPU_ASCENDC_UNARY(name, op)                                                  \
  template <class T>                                                                 \
  void name(const LocalTensor<T>& to, const LocalTensor<T>& a, std::int32_t count) { \
    npu::ascendc::vector<T>(npu::ascendc::VectorOp::op, to, &a, nullptr, 0, count);  \
  }
NPU_ASCENDC_UNARY(Exp, kExp)
NPU_ASCENDC_UNARY(Ln, kLn)
NPU_ASCENDC_UNARY(Abs, kAbs)
NPU_ASCENDC_UNARY(Relu, kRelu)
NPU_ASCENDC_UNARY(Sqrt, kSqrt)
NPU_ASCENDC_UNARY(Rsqrt, kRsqrt)
NPU_ASCENDC_UNARY(Reciprocal, kReciprocal)
#undef NPU_ASCENDC_UNARY

// to = a * scalar + to
template <class T, class Scalar>
void Axpy(const LocalTensor<T>& to, const LocalTensor<T>& a, const Scalar& scalar,
          std::int32_t count) {
  npu::ascendc::vector(npu::ascendc::VectorOp::kAxpy, to, &a, &to, static_cast<float>(scalar),
                       count);
}
template <class T, class Scalar>
void Duplicate(const LocalTensor<T>& to, const Scalar& scalar, std::int32_t count) {
  npu::ascendc::vector<T>(npu::ascendc::VectorOp::kDuplicate, to, nullptr, nullptr,
                          static_cast<float>(scalar), count);
}

// Rounds to nearest even.
template <class To, class From>
void Cast(const LocalTensor<To>& to, const LocalTensor<From>& from, RoundMode,
          std::uint32_t count) {
  static_assert(npu::ascendc::type_of<To>() != npu::ascendc::kOnlyBytes &&
                    npu::ascendc::type_of<From>() != npu::ascendc::kOnlyBytes,
                "no unit computes in this type");
  npu::platform::Vector cast;
  cast.op = npu::ascendc::VectorOp::kCast;
  cast.type = npu::ascendc::type_of<From>();
  cast.to_type = npu::ascendc::type_of<To>();
  cast.to = npu::ascendc::in_ub(to);
  cast.a = npu::ascendc::in_ub(from);
  cast.count = count;
  npu::ascendc::issue(cast);
}

// One element of `count`. The third tensor is not needed here.
#define NPU_ASCENDC_REDUCE(name, op)                                                     \
  template <class T>                                                                     \
  void name(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<T>&, \
            std::int32_t count) {                                                        \
    npu::ascendc::vector<T>(npu::ascendc::VectorOp::op, to, &from, nullptr, 0, count);   \
  }
NPU_ASCENDC_REDUCE(ReduceSum, kReduceSum)
NPU_ASCENDC_REDUCE(ReduceMax, kReduceMax)
NPU_ASCENDC_REDUCE(ReduceMin, kReduceMin)
#undef NPU_ASCENDC_REDUCE

// A bit for each element, the first one the lowest of the first byte.
template <class Mask, class T>
void Compare(const LocalTensor<Mask>& to, const LocalTensor<T>& a, const LocalTensor<T>& b,
             CMPMODE mode, std::uint32_t count) {
  static_assert(sizeof(Mask) == 1);
  npu::platform::Vector compare;
  compare.op = npu::ascendc::VectorOp::kCompare;
  compare.type = npu::ascendc::type_of<T>();
  compare.comparison = static_cast<npu::platform::Comparison>(mode);
  compare.to = npu::ascendc::in_ub(to);
  compare.a = npu::ascendc::in_ub(a);
  compare.b = npu::ascendc::in_ub(b);
  compare.count = count;
  npu::ascendc::issue(compare);
}
template <class Mask, class T, class Scalar>
void CompareScalar(const LocalTensor<Mask>& to, const LocalTensor<T>& a, const Scalar& scalar,
                   CMPMODE mode, std::uint32_t count) {
  static_assert(sizeof(Mask) == 1);
  npu::platform::Vector compare;
  compare.op = npu::ascendc::VectorOp::kCompares;
  compare.type = npu::ascendc::type_of<T>();
  compare.comparison = static_cast<npu::platform::Comparison>(mode);
  compare.to = npu::ascendc::in_ub(to);
  compare.a = npu::ascendc::in_ub(a);
  compare.scalar = static_cast<float>(scalar);
  compare.count = count;
  npu::ascendc::issue(compare);
}
// a where the mask has a one.
template <class T, class Mask>
void Select(const LocalTensor<T>& to, const LocalTensor<Mask>& mask, const LocalTensor<T>& a,
            const LocalTensor<T>& b, SELMODE mode, std::uint32_t count) {
  if (mode != SELMODE::VSEL_TENSOR_TENSOR_MODE) {
    npu::ascendc::refuse(npu::ascendc::Refusal::kNotModelled);
  }
  npu::platform::Vector select;
  select.op = npu::ascendc::VectorOp::kSelect;
  select.type = select.to_type = npu::ascendc::type_of<T>();
  select.to = npu::ascendc::in_ub(to);
  select.a = npu::ascendc::in_ub(a);
  select.b = npu::ascendc::in_ub(b);
  select.mask = npu::ascendc::in_ub(mask);
  select.count = count;
  npu::ascendc::issue(select);
}
template <class T, class Mask, class Scalar>
void Select(const LocalTensor<T>& to, const LocalTensor<Mask>& mask, const LocalTensor<T>& a,
            const Scalar& scalar, SELMODE mode, std::uint32_t count) {
  if (mode != SELMODE::VSEL_TENSOR_SCALAR_MODE) {
    npu::ascendc::refuse(npu::ascendc::Refusal::kNotModelled);
  }
  npu::platform::Vector select;
  select.op = npu::ascendc::VectorOp::kSelects;
  select.type = select.to_type = npu::ascendc::type_of<T>();
  select.to = npu::ascendc::in_ub(to);
  select.a = npu::ascendc::in_ub(a);
  select.scalar = static_cast<float>(scalar);
  select.mask = npu::ascendc::in_ub(mask);
  select.count = count;
  npu::ascendc::issue(select);
}

}  // namespace AscendC
