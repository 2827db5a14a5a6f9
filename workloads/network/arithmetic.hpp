// SPDX-License-Identifier: Apache-2.0
// Steps that compute, on the AI Cores. Types are those that the card has (ElementRow::card).
#pragma once

#include <string>
#include <vector>

#include "workloads/network/steps.hpp"

namespace npu::network {

// `expression` over a, b, c, d (docs/writing-an-operator.md), of values of the same sides; s to s3
// are the scalars.
Value elementwise(Steps& steps, const std::string& expression, const std::vector<Value>& values,
                  const std::vector<float>& scalars = {});
// The same into another type.
Value elementwise_into(Steps& steps, ElementType type, const std::string& expression,
                       const std::vector<Value>& values, const std::vector<float>& scalars = {});
// Over a and b, with sides of 1 repeated.
Value broadcast(Steps& steps, const std::string& expression, const Value& a, const Value& b,
                const std::vector<float>& scalars = {});
Value broadcast_into(Steps& steps, ElementType type, const std::string& expression, const Value& a,
                     const Value& b, const std::vector<float>& scalars = {});
// C = A B of the last two axes; axes before them are the same ones. Of int8 into int32. `bias` may
// be null: with takes_bias() a number for each column.
Value product(Steps& steps, const Value& a, const Value& b, bool transpose_a = false,
              bool transpose_b = false, const Value* bias = nullptr);
// Whether a product of two axes adds it: of reals whose accumulators can begin with it.
bool takes_bias(const Value& a, const Value& b, bool transpose_b, const Value& bias);
// As NumPy multiplies: vectors become matrices, batches are repeated.
Value matmul(Steps& steps, const Value& a, const Value& b);
// Rows of the last axis, divided by the root of the mean of their squares.
Value rms_norm(Steps& steps, const Value& x, const Value& scale, float epsilon);
// "sum", "mean", "max", "min", "prod" along the axes, which are given once each.
Value reduce(Steps& steps, const std::string& how, const Value& x, std::vector<std::size_t> axes,
             bool keep);
Value softmax(Steps& steps, const Value& x, std::size_t axis);
// Without a logarithm of 0 where a probability is too small for the type.
Value log_softmax(Steps& steps, const Value& x, std::size_t axis);
// Rows of the axes from `axis` on. `bias` may be null.
Value layer_norm(Steps& steps, const Value& x, std::size_t axis, const Value& scale,
                 const Value* bias, float epsilon);
// Where the largest is along the last axis, in int32.
Value place_of_largest(Steps& steps, const Value& x);
// The largest or the smallest of the last axis, in order, and where they are, in int32.
struct Extremes {
  Value values, indices;
};
Extremes extremes(Steps& steps, const Value& x, std::uint64_t count, bool largest);

}  // namespace npu::network
