// SPDX-License-Identifier: Apache-2.0
// Evaluates an expression for neighbouring values of its last name, a step for all of them at a
// time. What does not depend on that name is computed once.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/task_graph/expression.hpp"

namespace npu::workloads {

class ExpressionRow {
 public:
  // `most`: values at a time. `expression` outlives this.
  ExpressionRow(const Expression& expression, std::size_t most);

  // `values`: as of Expression::evaluate(); the last one counts up from there `count` times. The
  // results stay until the next call; nullptr: one of them is an error, which that names.
  const std::int64_t* evaluate(const std::vector<std::int64_t>& values, std::size_t count);

 private:
  // What a step leaves: a number, or one for each value of the last name.
  struct Operand {
    std::int64_t number = 0;
    bool varies = false;
  };

  void push(const Expression::Step& step, const std::vector<std::int64_t>& values,
            std::size_t count);
  bool combine(Expression::Code code, std::size_t count);
  std::int64_t* lanes(std::size_t operand) { return lanes_.data() + operand * most_; }

  const Expression& expression_;
  std::size_t most_;
  std::size_t top_ = 0;  // operands on the stack
  std::vector<Operand> operands_;
  std::vector<std::int64_t> lanes_;
};

}  // namespace npu::workloads
