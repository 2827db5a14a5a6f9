// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/matrix_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/framework/random.hpp"

namespace npu::workloads {

namespace {

double element(const MatrixProduct& p, std::uint32_t row, std::uint32_t column) {
  double sum = 0;
  for (std::uint32_t i = 0; i < p.k; ++i) {
    sum += load_element(p.type, p.a.data, std::uint64_t{row} * p.k + i) *
           load_element(p.type, p.b.data, std::uint64_t{i} * p.n + column);
  }
  return sum;
}

class Reference {
 public:
  explicit Reference(const MatrixProduct& product)
      : p_(product), a_(decoded(product.a)), b_(decoded(product.b)) {}

  // Of a whole row, in the order of memory.
  std::vector<double> row(std::uint32_t row) const {
    std::vector<double> sums(p_.n);
    for (std::uint32_t i = 0; i < p_.k; ++i) {
      const double a = a_[std::uint64_t{row} * p_.k + i];
      const double* const b = &b_[std::uint64_t{i} * p_.n];
      for (std::uint32_t column = 0; column < p_.n; ++column) sums[column] += a * b[column];
    }
    return sums;
  }

 private:
  std::vector<double> decoded(ConstByteSpan bytes) const {
    std::vector<double> values(bytes.size / platform::bytes_of(p_.type));
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      values[i] = load_element(p_.type, bytes.data, i);
    }
    return values;
  }

  const MatrixProduct& p_;
  std::vector<double> a_, b_;
};

Status compare(const MatrixProduct& p, std::uint32_t row, std::uint32_t column, double expected,
               MatrixError& error) {
  const double found = load_element(p.to_type, p.c.data, std::uint64_t{row} * p.n + column);
  // Sums are exact (elements.hpp): the one rounding of the result is all that may be off.
  const double size = std::fabs(expected);
  const double off = std::fabs(found - expected) / (size == 0 ? 1 : size);
  ++error.compared;
  error.largest = std::max(error.largest, off);
  if (off <= rounding_error(p.to_type)) return {};
  return fail(ErrorCode::kWrongData, fmt::format("element ({}, {}) of {} x {} is {}, expected {}",
                                                 row, column, p.m, p.n, found, expected));
}

}  // namespace

Result<MatrixError> check_product(const MatrixProduct& p, std::uint64_t samples,
                                  std::uint64_t seed) {
  MatrixError error;
  if (p.m == 0 || p.n == 0) return error;
  if (samples == 0) {
    const Reference reference(p);
    for (std::uint32_t row = 0; row < p.m; ++row) {
      const auto expected = reference.row(row);
      for (std::uint32_t column = 0; column < p.n; ++column) {
        auto ok = compare(p, row, column, expected[column], error);
        if (!ok) return forward_error(ok);
      }
    }
    return error;
  }
  Random random(seed);
  for (std::uint64_t i = 0; i < samples + 4; ++i) {
    const bool corner = i < 4;
    const auto row = corner ? (i & 1) * (p.m - 1) : random.below(p.m);
    const auto column = corner ? (i >> 1) * (p.n - 1) : random.below(p.n);
    const auto r = static_cast<std::uint32_t>(row), c = static_cast<std::uint32_t>(column);
    if (auto ok = compare(p, r, c, element(p, r, c), error); !ok) return forward_error(ok);
  }
  return error;
}

}  // namespace npu::workloads
