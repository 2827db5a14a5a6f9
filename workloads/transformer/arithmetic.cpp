// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/arithmetic.hpp"

#include <cmath>

#include "workloads/programs/support/elements.hpp"

namespace npu::workloads::transformer {

Numbers Arithmetic::rounded(Numbers numbers) const {
  for (auto& each : numbers) each = rounded_to(type_, each);
  return numbers;
}

Numbers Arithmetic::products(const Numbers& rows, const Matrix& matrix, const Numbers& bias) {
  const std::uint64_t inputs = matrix.inputs;
  Numbers products;
  products.reserve(rows.size() / inputs * matrix.outputs);
  for (std::uint64_t row = 0; row < rows.size() / inputs; ++row) {
    const double* const x = rows.data() + row * inputs;
    for (std::uint64_t i = 0; i < matrix.outputs; ++i) {
      const double* const w = matrix.weights.data() + matrix.first + i * inputs;
      double sum = bias.empty() ? 0 : bias[i];
      for (std::uint64_t k = 0; k < inputs; ++k) sum += x[k] * w[k];
      products.push_back(sum);
    }
  }
  return products;
}

Numbers Arithmetic::multiplied(const Numbers& rows, const Numbers& weights, std::uint64_t inputs,
                               const Numbers& bias) const {
  return rounded(products(rows, {weights, 0, weights.size() / inputs, inputs}, bias));
}

Numbers Arithmetic::normed(const Numbers& x, const Numbers& gamma, double epsilon) const {
  const std::uint64_t columns = gamma.size();
  Numbers y(x.size());
  for (std::uint64_t first = 0; first < x.size(); first += columns) {
    double squares = 0;
    for (std::uint64_t i = 0; i < columns; ++i) squares += x[first + i] * x[first + i];
    const double root = std::sqrt(squares / static_cast<double>(columns) + epsilon);
    for (std::uint64_t i = 0; i < columns; ++i) y[first + i] = x[first + i] / root * gamma[i];
  }
  return rounded(std::move(y));
}

Numbers Arithmetic::activated(const Numbers& gate_up, std::uint64_t inner) const {
  Numbers all;
  all.reserve(gate_up.size() / 2);
  for (std::uint64_t first = 0; first < gate_up.size(); first += 2 * inner) {
    const double* const gate = gate_up.data() + first;
    for (std::uint64_t i = 0; i < inner; ++i) {
      all.push_back(gate[i] / (1 + std::exp(-gate[i])) * gate[inner + i]);
    }
  }
  return rounded(std::move(all));
}

}  // namespace npu::workloads::transformer
