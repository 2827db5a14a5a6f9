// SPDX-License-Identifier: Apache-2.0
// Softmax (softmax.hpp) of scores in fp32, and the output so far, in vector functions: what is
// computed between a load and a store stays in registers.
#pragma once

#include "kernels/device/attention/softmax.hpp"
#include "kernels/device/vector/function_builder.hpp"

namespace npu::kernels::attention {

class RegisterSoftmax {
 public:
  RegisterSoftmax(AicorePort& port, const Work& w, const RowSpace& ub, const RowSoftmax& numbers)
      : port_(port), w_(w), ub_(ub), numbers_(numbers) {}

  // Scores become weights of kTypeA in their place, rows as far apart.
  void weigh(const Step& step, std::uint32_t scores, std::uint32_t pitch, std::uint32_t rows,
             const Mask& mask, std::uint32_t task_row) const {
    const bool hides = mask.hides(step, task_row);
    if (hides) {
      scale(scores, pitch, rows, step.keys);
      mask.apply(step, task_row, rows, scores, pitch, kFloat);
    }
    find_largest(scores, pitch, rows, step.keys, !hides);
    bring_together(step, rows);
    make_weights(step, scores, pitch, rows, !hides);
    add_up(step, rows);
  }

  // The output so far and the products of a step; of the first one these.
  void add(const Step& step, std::uint32_t output, std::uint32_t products, std::uint32_t pitch,
           std::uint32_t rows) const {
    Builder function;
    function.load(0, products, kFloat, FunctionRows::kOwn, pitch);
    if (!step.first) {
      function.load(1, output, kFloat, FunctionRows::kOwn, pitch);
      function.load(2, numbers_.factors(step), kFloat, FunctionRows::kNumber);
      function.op(VectorOp::kMul, 1, 1, 2);
      function.op(VectorOp::kAdd, 0, 0, 1);
    }
    function.store(0, output, kFloat, FunctionRows::kOwn, pitch);
    function.issue(port_, rows, w_.head);
  }

 private:
  static constexpr DataType kFloat = DataType::kFp32;
  static constexpr VectorOp kExp =
      kTypeA == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp;
  static constexpr float kLargest = 3.402823466e38F;
  using Builder = FunctionBuilder<6>;

  std::uint32_t found() const { return ub_.number(6); }
  std::uint32_t now() const { return ub_.number(7); }

  void scale(std::uint32_t scores, std::uint32_t pitch, std::uint32_t rows,
             std::uint32_t keys) const {
    Builder function;
    function.load(0, scores, kFloat, FunctionRows::kOwn, pitch);
    function.op(VectorOp::kMuls, 0, 0, 0, w_.scale);
    function.store(0, scores, kFloat, FunctionRows::kOwn, pitch);
    function.issue(port_, rows, keys);
  }
  void find_largest(std::uint32_t scores, std::uint32_t pitch, std::uint32_t rows,
                    std::uint32_t keys, bool scales) const {
    Builder function;
    function.load(0, scores, kFloat, FunctionRows::kOwn, pitch);
    if (scales) function.op(VectorOp::kMuls, 0, 0, 0, w_.scale);
    function.op(VectorOp::kReduceMax, 1, 0);
    function.store(1, found(), kFloat, FunctionRows::kNumber);
    function.issue(port_, rows, keys);
  }
  // As RowSoftmax: the largest is finite, factors are of the sums and the output so far.
  void bring_together(const Step& step, std::uint32_t rows) const {
    Builder function;
    function.load(0, found(), kFloat);
    function.op(VectorOp::kMaxs, 0, 0, 0, -kLargest);
    if (!step.first) {
      function.load(1, numbers_.largest(step), kFloat);
      function.op(VectorOp::kMax, 0, 0, 1);
      function.op(VectorOp::kSub, 1, 1, 0);
      function.op(kExp, 1, 1);
      function.store(1, numbers_.factors(step), kFloat);
    }
    function.store(0, numbers_.largest(step), kFloat);
    function.issue(port_, 1, rows);
  }
  void make_weights(const Step& step, std::uint32_t scores, std::uint32_t pitch, std::uint32_t rows,
                    bool scales) const {
    Builder function;
    function.load(0, scores, kFloat, FunctionRows::kOwn, pitch);
    function.load(1, numbers_.largest(step), kFloat, FunctionRows::kNumber);
    if (scales) function.op(VectorOp::kMuls, 0, 0, 0, w_.scale);
    function.op(VectorOp::kSub, 0, 0, 1);
    function.op(kExp, 0, 0);
    const std::uint8_t weights = function.cast(2, kTypeA, 0, kFloat);
    function.op(VectorOp::kReduceSum, 3, 0);
    function.store(weights, scores, kTypeA, FunctionRows::kOwn, pitch);
    function.store(3, now(), kFloat, FunctionRows::kNumber);
    function.issue(port_, rows, step.keys);
  }
  void add_up(const Step& step, std::uint32_t rows) const {
    Builder function;
    function.load(0, now(), kFloat);
    if (!step.first) {
      function.load(1, numbers_.sums(step), kFloat);
      function.load(2, numbers_.factors(step), kFloat);
      function.op(VectorOp::kMul, 1, 1, 2);
      function.op(VectorOp::kAdd, 0, 0, 1);
    }
    function.store(0, numbers_.sums(step), kFloat);
    function.issue(port_, 1, rows);
  }

  AicorePort& port_;
  const Work& w_;
  const RowSpace& ub_;
  const RowSoftmax& numbers_;
};

}  // namespace npu::kernels::attention
