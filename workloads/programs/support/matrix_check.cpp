// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/matrix_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/framework/random.hpp"

namespace npu::workloads {

namespace {

struct Element {
  std::uint32_t row = 0, column = 0;
  double expected = 0;
};

// Numbers of those that occur, each once.
std::vector<std::uint32_t> once(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// The elements of a result that were picked. A step of k at a time: each operand that they need is
// decoded once, however many of them need it. Sums are exact (elements.hpp) in any order.
class PickedElements {
 public:
  PickedElements(const MatrixProduct& product, std::vector<Element> picked)
      : p_(product), picked_(std::move(picked)) {
    std::vector<std::uint32_t> rows, columns;
    for (const auto& each : picked_) {
      rows.push_back(each.row);
      columns.push_back(each.column);
    }
    rows_ = once(std::move(rows));
    columns_ = once(std::move(columns));
  }

  const std::vector<Element>& expected() {
    for (std::uint32_t begin = 0; begin < p_.k; begin += kStep) {
      add(begin, std::min(kStep, p_.k - begin));
    }
    return picked_;
  }

 private:
  static constexpr std::uint32_t kStep = 256;

  void add(std::uint32_t begin, std::uint32_t count) {
    std::vector<double> a(rows_.size() * kStep), b(columns_.size() * kStep);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto at = std::uint64_t{rows_[row]} * p_.k + begin;
      const auto* const from = p_.a.data + at * platform::bytes_of(p_.type);
      load_elements(p_.type, from, count, &a[row * kStep]);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::size_t column = 0; column < columns_.size(); ++column) {
        const auto at = std::uint64_t{begin + i} * p_.n + columns_[column];
        b[column * kStep + i] = load_element(p_.type, p_.b.data, at);
      }
    }
    for (auto& each : picked_) {
      const double* const left = &a[place(rows_, each.row) * kStep];
      const double* const right = &b[place(columns_, each.column) * kStep];
      each.expected = std::inner_product(left, left + count, right, each.expected);
    }
  }
  static std::size_t place(const std::vector<std::uint32_t>& numbers, std::uint32_t number) {
    return static_cast<std::size_t>(std::lower_bound(numbers.begin(), numbers.end(), number) -
                                    numbers.begin());
  }

  const MatrixProduct& p_;
  std::vector<Element> picked_;
  std::vector<std::uint32_t> rows_, columns_;
};

double bias_of(const MatrixProduct& p, std::uint32_t column) {
  return p.bias.size == 0 ? 0 : load_element(p.bias_type, p.bias.data, column);
}

class Reference {
 public:
  explicit Reference(const MatrixProduct& product)
      : p_(product), a_(decoded(product.a)), b_(decoded(product.b)) {}

  // Of a whole row, in the order of memory.
  std::vector<double> row(std::uint32_t row) const {
    std::vector<double> sums(p_.n);
    for (std::uint32_t column = 0; column < p_.n; ++column) sums[column] = bias_of(p_, column);
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
    load_elements(p_.type, bytes.data, values.size(), values.data());
    return values;
  }

  const MatrixProduct& p_;
  std::vector<double> a_, b_;
};

Status compare(const MatrixProduct& p, std::uint32_t row, std::uint32_t column, double expected,
               MatrixError& error) {
  const double found = load_element(p.to_type, p.c.data, std::uint64_t{row} * p.n + column);
  // Sums are exact (elements.hpp): the one rounding of the result is all that may be off.
  const double size = finite_size(expected);
  const double off = distance_of(found, expected) / (size == 0 ? 1 : size);
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
  std::vector<Element> picked;
  for (std::uint64_t i = 0; i < samples + 4; ++i) {
    const bool corner = i < 4;
    const auto row = corner ? (i & 1) * (p.m - 1) : random.below(p.m);
    const auto column = corner ? (i >> 1) * (p.n - 1) : random.below(p.n);
    const auto at = static_cast<std::uint32_t>(column);
    picked.push_back({static_cast<std::uint32_t>(row), at, bias_of(p, at)});
  }
  PickedElements elements(p, std::move(picked));
  for (const auto& each : elements.expected()) {
    if (auto ok = compare(p, each.row, each.column, each.expected, error); !ok) {
      return forward_error(ok);
    }
  }
  return error;
}

}  // namespace npu::workloads
