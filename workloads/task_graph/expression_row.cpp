// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/expression_row.hpp"

#include <algorithm>

#include "workloads/task_graph/expression_arithmetic.hpp"

namespace npu::workloads {
namespace {

using Code = Expression::Code;

// `at`: of the first lane; `step`: 0 for a number that all lanes share.
struct Lanes {
  const std::int64_t* at;
  std::size_t step;
};

// True: a lane has no result.
template <Code kCode>
bool each(Lanes a, Lanes b, std::int64_t* to, std::size_t count) {
  constexpr bool kDivides = kCode == Code::kDiv || kCode == Code::kMod;
  bool failed = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t left = a.at[i * a.step], right = b.at[i * b.step];
    if (kDivides && right == 0) return true;
    failed |= compute(kCode, left, right, to[i]);
  }
  return failed;
}

bool compute_lanes(Code code, Lanes a, Lanes b, std::int64_t* to, std::size_t count) {
  switch (code) {
    case Code::kAdd:
      return each<Code::kAdd>(a, b, to, count);
    case Code::kNegate:
    case Code::kSub:
      return each<Code::kSub>(a, b, to, count);
    case Code::kMul:
      return each<Code::kMul>(a, b, to, count);
    case Code::kDiv:
      return each<Code::kDiv>(a, b, to, count);
    case Code::kMod:
      return each<Code::kMod>(a, b, to, count);
    case Code::kEqual:
      return each<Code::kEqual>(a, b, to, count);
    case Code::kNotEqual:
      return each<Code::kNotEqual>(a, b, to, count);
    case Code::kLess:
      return each<Code::kLess>(a, b, to, count);
    case Code::kLessEqual:
      return each<Code::kLessEqual>(a, b, to, count);
    case Code::kGreater:
      return each<Code::kGreater>(a, b, to, count);
    case Code::kGreaterEqual:
      return each<Code::kGreaterEqual>(a, b, to, count);
    default:
      return true;
  }
}

}  // namespace

// A step leaves one operand more at most, and a sign needs a 0 beside its own.
ExpressionRow::ExpressionRow(const Expression& expression, std::size_t most)
    : expression_(expression),
      most_(most),
      operands_(expression.steps().size() + 1),
      lanes_(operands_.size() * most) {}

const std::int64_t* ExpressionRow::evaluate(const std::vector<std::int64_t>& values,
                                            std::size_t count) {
  top_ = 0;
  for (const auto& step : expression_.steps()) {
    if (step.code == Code::kNumber || step.code == Code::kName) {
      push(step, values, count);
    } else if (combine(step.code, count)) {
      return nullptr;
    }
  }
  if (!operands_[0].varies) std::fill_n(lanes(0), count, operands_[0].number);
  return lanes(0);
}

void ExpressionRow::push(const Expression::Step& step, const std::vector<std::int64_t>& values,
                         std::size_t count) {
  Operand& operand = operands_[top_];
  const auto index = static_cast<std::size_t>(step.value);
  operand.number = step.code == Code::kName ? values[index] : step.value;
  operand.varies = step.code == Code::kName && index + 1 == values.size();
  if (operand.varies) {
    for (std::size_t i = 0; i < count; ++i) {
      lanes(top_)[i] = operand.number + static_cast<std::int64_t>(i);
    }
  }
  ++top_;
}

// The topmost two become one; of a sign the topmost one is taken from 0.
bool ExpressionRow::combine(Code code, std::size_t count) {
  if (code == Code::kNegate) {
    operands_[top_] = operands_[top_ - 1];
    if (operands_[top_].varies) std::copy_n(lanes(top_ - 1), count, lanes(top_));
    operands_[top_ - 1] = {};
    ++top_;
  }
  --top_;
  Operand &a = operands_[top_ - 1], &b = operands_[top_];
  const auto of = [this](Operand& operand, std::size_t number) {
    return operand.varies ? Lanes{lanes(number), 1} : Lanes{&operand.number, 0};
  };
  const Lanes left = of(a, top_ - 1), right = of(b, top_);
  a.varies = a.varies || b.varies;
  return compute_lanes(code, left, right, a.varies ? lanes(top_ - 1) : &a.number,
                       a.varies ? count : 1);
}

}  // namespace npu::workloads
