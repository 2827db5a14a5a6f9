// SPDX-License-Identifier: Apache-2.0
// Operands of an operator, and what must come of them by plain arithmetic on the host.
#pragma once

#include <vector>

#include "kernels/operators/call.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/programs/support/matrix_check.hpp"

namespace npu::workloads {

class OperatorProblem {
 public:
  // `group_ends`: of a grouped product, as many as there are groups, each not before the one before
  // and within the side that is sliced; empty: groups of about one size.
  OperatorProblem(operators::NormalisedCall call, std::uint64_t seed,
                  std::vector<std::uint64_t> group_ends = {});

  // Tensors as they lie in device memory, in the order of the operator's row.
  std::size_t inputs() const { return inputs_.size(); }
  Bytes input_bytes(std::size_t i) const;
  Bytes result_bytes() const;
  std::vector<std::byte> input(std::size_t i) const;
  // What the kernel does depends on its values, not on its shape alone.
  bool steers(std::size_t i) const;
  // kWrongData names the first element that is off by more than its types must round. Of large
  // products samples.
  Status check(const std::vector<std::byte>& result) const;

 private:
  // A tensor of `count` matrices; its elements are exact_value()s.
  struct Tensor {
    std::uint64_t rows = 1, columns = 0;
    std::string layout = "RowMajor";
    DataType type{};
    std::uint64_t count = 1;
  };
  using Values = std::vector<double>;

  void describe();
  std::vector<std::byte> rows_of(std::size_t i, std::uint64_t matrix) const;
  Values values(std::size_t i) const;
  // Where group `group` begins in the side that is sliced.
  std::uint64_t group_begin(std::uint64_t group) const;
  Status check_products(const std::vector<std::byte>& result) const;
  Status check_groups(const std::vector<std::byte>& result) const;
  Status check_one(const MatrixProduct& product) const;
  Values expected() const;
  Values expected_quantised() const;
  Values expected_gemv() const;
  Values expected_elementwise() const;
  Values expected_softmax() const;
  Values expected_rms_norm() const;
  Values expected_attention() const;
  double tolerance() const;

  operators::NormalisedCall call_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> group_ends_;
  std::vector<Tensor> inputs_;
  Tensor result_;
};

}  // namespace npu::workloads
