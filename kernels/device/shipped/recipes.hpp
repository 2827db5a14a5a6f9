// SPDX-License-Identifier: Apache-2.0
// The instructions of each operator on one tile. Reals are computed in fp32: `x` is the operand and
// `y` the result, in tensors of fp16 and bf16 behind and before a cast.
#pragma once

#include "kernels/device/shipped/operators.hpp"

namespace npu::kernels::vector {

// Offsets in UB.
struct Registers {
  std::uint32_t x = 0, x2 = 0, y = 0;    // fp32, or the operands' type for what is computed in it
  std::array<std::uint32_t, 2> extra{};  // fp32
  std::uint32_t mask = 0;
};

// Registers of fp32 beside x, x2 and y, and whether a mask is needed.
constexpr unsigned extra_registers(Operator op) {
  return op == Operator::kMish ? 2 : op == Operator::kSigmoid ? 1 : 0;
}
constexpr bool needs_mask(Operator op, platform::DataType type) {
  return op == Operator::kMish || (op == Operator::kMaximum && type == platform::DataType::kBf16);
}
// Operands are not cast.
constexpr bool computed_as_is(Operator op, platform::DataType type) {
  return type == platform::DataType::kFp32 ||
         (op == Operator::kMaximum && type != platform::DataType::kBf16);
}

class Recipe {
 public:
  Recipe(platform::AicorePort& port, const OperatorWork& work, const Registers& registers)
      : port_(port), work_(work), r_(registers) {}

  // What is needed once: constants.
  void prepare(std::uint32_t largest) {
    if (work_.op != Operator::kSigmoid) return;
    count_ = largest;
    issue(VectorOp::kDuplicate, ones(), 0, 0, 1);
  }
  // y = op(x, x2) for `count` elements.
  void compute(std::uint32_t count, std::uint32_t x, std::uint32_t x2, std::uint32_t y) {
    count_ = count;
    r_.x = x;
    r_.x2 = x2;
    r_.y = y;
    switch (work_.op) {
      case Operator::kSigmoid:
        return sigmoid();
      case Operator::kGelu:
        return gelu();
      case Operator::kMish:
        return mish();
      case Operator::kExp:
        if (work_.scale != 1) issue(VectorOp::kMuls, r_.y, r_.x, 0, work_.scale);
        // What fp16 and bf16 hold of the result, the unit's own instruction gives.
        return issue(
            work_.type == platform::DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp, r_.y,
            work_.scale != 1 ? r_.y : r_.x);
      case Operator::kMaximum:
        return maximum();
    }
  }

 private:
  using VectorOp = platform::VectorOp;
  using Comparison = platform::Comparison;

  std::uint32_t ones() const { return r_.extra[0]; }

  platform::Vector vector(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b) const {
    platform::Vector result;
    result.op = op;
    const bool as_is = computed_as_is(work_.op, work_.type);
    result.type = result.to_type = as_is ? work_.type : platform::DataType::kFp32;
    result.to = to;
    result.a = a;
    result.b = b;
    result.count = count_;
    result.mask = r_.mask;
    return result;
  }
  void issue(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b = 0,
             float scalar = 0) {
    auto instruction = vector(op, to, a, b);
    instruction.scalar = scalar;
    port_.issue(instruction);
  }
  void compare(VectorOp op, Comparison comparison, std::uint32_t a, std::uint32_t b) {
    auto instruction = vector(op, r_.mask, a, b);
    instruction.comparison = comparison;
    port_.issue(instruction);
  }

  // 1 / (1 + exp(-x))
  void sigmoid() {
    issue(VectorOp::kMuls, r_.y, r_.x, 0, -1);
    issue(VectorOp::kExp, r_.y, r_.y);
    issue(VectorOp::kAdds, r_.y, r_.y, 0, 1);
    issue(VectorOp::kDiv, r_.y, ones(), r_.y);
  }

  void gelu() {
    constexpr float kCubic = 0.044715F, kTwiceRoot = 1.5957691F;  // 2 sqrt(2 / pi)
    issue(VectorOp::kMul, r_.y, r_.x, r_.x);
    issue(VectorOp::kMul, r_.y, r_.y, r_.x);
    issue(VectorOp::kMuls, r_.y, r_.y, 0, kCubic);
    issue(VectorOp::kAdd, r_.y, r_.y, r_.x);
    issue(VectorOp::kMuls, r_.y, r_.y, 0, -kTwiceRoot);
    issue(VectorOp::kExp, r_.y, r_.y);
    issue(VectorOp::kAdds, r_.y, r_.y, 0, 1);
    issue(VectorOp::kDiv, r_.y, r_.x, r_.y);
  }

  // x tanh(ln(1 + exp(x))), in two branches of which neither overflows where it is used:
  // (1 + 2 e) / (1 + 2 e + 2 e^2) with e = exp(-x), and (f^2 + 2 f) / (f^2 + 2 f + 2) with f =
  // exp(x).
  void mish() {
    const auto [p, q] = r_.extra;
    issue(VectorOp::kMuls, q, r_.x, 0, -1);
    issue(VectorOp::kExp, q, q);
    issue(VectorOp::kMuls, p, r_.x, 0, -2);
    issue(VectorOp::kExp, p, p);
    issue(VectorOp::kMuls, q, q, 0, 2);
    issue(VectorOp::kAdds, q, q, 0, 1);
    issue(VectorOp::kMuls, p, p, 0, 2);
    issue(VectorOp::kAdd, p, p, q);
    issue(VectorOp::kDiv, r_.y, q, p);
    issue(VectorOp::kExp, p, r_.x);
    issue(VectorOp::kMuls, p, p, 0, 2);
    issue(VectorOp::kMuls, q, r_.x, 0, 2);
    issue(VectorOp::kExp, q, q);
    issue(VectorOp::kAdd, q, q, p);
    issue(VectorOp::kAdds, p, q, 0, 2);
    issue(VectorOp::kDiv, q, q, p);
    compare(VectorOp::kCompares, Comparison::kGreaterEqual, r_.x, 0);
    issue(VectorOp::kSelect, r_.y, r_.y, q);
    issue(VectorOp::kMul, r_.y, r_.y, r_.x);
  }

  void maximum() {
    issue(VectorOp::kMax, r_.y, r_.x, r_.x2);
    if (!needs_mask(work_.op, work_.type)) return;
    for (const auto operand : {r_.x, r_.x2}) {
      compare(VectorOp::kCompare, Comparison::kNotEqual, operand, operand);
      issue(VectorOp::kSelect, r_.y, operand, r_.y);
    }
  }

  platform::AicorePort& port_;
  const OperatorWork work_;
  Registers r_;
  std::uint32_t count_ = 0;
};

}  // namespace npu::kernels::vector
