// SPDX-License-Identifier: Apache-2.0
// Operands of an operator, and what must come of them by plain arithmetic on the host.
#pragma once

#include <optional>
#include <vector>

#include "kernels/operators/call.hpp"
#include "kernels/operators/operations.hpp"
#include "npu/jit/kernel.hpp"
#include "workloads/programs/support/element_expression.hpp"
#include "workloads/programs/support/matrix_check.hpp"
#include "workloads/programs/support/operator_tensors.hpp"

namespace npu::workloads {

class OperatorProblem {
 public:
  // A product has a bias if the call names its type.
  OperatorProblem(operators::NormalisedCall call, std::uint64_t seed,
                  const OperatorOptions& options = {});

  // Tensors as they lie in device memory, in the order of the operator's row.
  std::size_t inputs() const { return inputs_.size(); }
  Bytes input_bytes(std::size_t i) const;
  std::size_t results() const { return results_.size(); }
  Bytes result_bytes(std::size_t i) const;
  // Results lie where the first inputs do.
  bool in_place() const { return in_place_; }
  // False: an optional tensor that is left out.
  bool given(std::size_t i) const { return inputs_[i].given; }
  std::vector<std::byte> input(std::size_t i) const;
  // What the kernel does depends on its values, not on its shape alone.
  bool steers(std::size_t i) const;
  // Multiplications and additions of products of matrices, of attention those of scores that are
  // looked at; none of other operators.
  std::optional<std::uint64_t> operations() const { return operators::operations_of(call_); }
  // kWrongData names the first element that is off by more than its types must round. Of large
  // products samples. `reference`: of an operator of one's own; null: it has none.
  Status check(const std::vector<std::vector<std::byte>>& results,
               jit::Reference reference = nullptr) const;

 private:
  using Values = std::vector<double>;

  std::vector<std::byte> rows_of(std::size_t i, std::uint64_t matrix) const;
  Values values(std::size_t i) const;
  Values numbers(std::size_t i, double none) const;
  // Where group `group` begins in the side that is sliced.
  std::uint64_t group_begin(std::uint64_t group) const;
  Status check_products(const std::vector<std::byte>& result) const;
  Status check_groups(const std::vector<std::byte>& result) const;
  Status check_one(const MatrixProduct& product) const;
  std::vector<Values> expected() const;
  std::vector<Values> expected_rows() const;
  Status check_result(std::size_t i, const Values& wanted,
                      const std::vector<std::byte>& result) const;
  Values expected_quantised() const;
  Values expected_gemv() const;
  // By an expression of every element.
  bool computes() const { return !call_.call.expression.empty(); }
  std::uint64_t place_of(std::size_t i, std::uint64_t index) const;
  Status check_elementwise(const std::vector<std::byte>& result) const;
  std::vector<Values> expected_steps() const;
  double tolerance(DataType type) const;

  operators::NormalisedCall call_;
  std::uint64_t seed_;
  OperatorOptions options_;
  std::vector<OperatorTensor> inputs_;
  std::vector<OperatorTensor> results_;
  bool in_place_ = false;
  std::optional<ElementExpression> expression_;  // of elementwise
};

}  // namespace npu::workloads
