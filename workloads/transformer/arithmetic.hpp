// SPDX-License-Identifier: Apache-2.0
// Parts of a decoder by plain arithmetic on the host, in double precision. What the card stores in
// between is rounded to its type here, too.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/base/result.hpp"
#include "workloads/transformer/weights.hpp"

namespace npu::workloads::transformer {

class Arithmetic {
 public:
  explicit Arithmetic(DataType type) : type_(type) {}

  Numbers rounded(Numbers numbers) const;
  // Rows times a matrix of outputs x inputs, which begins at `first` of `weights`; not rounded.
  struct Matrix {
    const Numbers& weights;
    std::uint64_t first = 0, outputs = 0, inputs = 0;
  };
  static Numbers products(const Numbers& rows, const Matrix& matrix, const Numbers& bias = {});
  // By all of the weights; rounded.
  Numbers multiplied(const Numbers& rows, const Numbers& weights, std::uint64_t inputs,
                     const Numbers& bias = {}) const;
  Numbers normed(const Numbers& x, const Numbers& gamma, double epsilon) const;
  // silu(gate) * up of rows of both halves.
  Numbers activated(const Numbers& gate_up, std::uint64_t inner) const;

  DataType type() const { return type_; }

 private:
  const DataType type_;
};

// Which experts each row has: `chosen` of them, row by row.
using Choices = std::vector<std::uint32_t>;

// The sums of experts' results for rows of x. `given`: the choice of the card, which is taken if
// nothing speaks against it but roundings of the logits, which grow with `layer`, the number of
// layers in front; empty: the choice is made here.
// kWrongData: one line that says what cannot have been chosen.
Result<Numbers> routed(const Arithmetic& arithmetic, const Model& model, const HostLayer& weights,
                       const Numbers& x, std::uint64_t layer, const Choices& given);

}  // namespace npu::workloads::transformer
