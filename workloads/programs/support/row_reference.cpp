// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/row_reference.hpp"

#include <algorithm>
#include <cmath>

namespace npu::workloads {

RowValues swi_glu(const RowValues& x, std::uint64_t columns, bool activate_left) {
  const std::uint64_t half = columns / 2;
  RowValues to;
  for (std::uint64_t row = 0; columns != 0 && row < x.size() / columns; ++row) {
    const double* const left = x.data() + row * columns;
    const double* const active = activate_left ? left : left + half;
    const double* const other = activate_left ? left + half : left;
    for (std::uint64_t i = 0; i < half; ++i) {
      to.push_back(active[i] / (1 + std::exp(-active[i])) * other[i]);
    }
  }
  return to;
}

double exponentials(RowValues& row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - largest);
  return sum;
}

RowValues softmax(const RowValues& x, std::uint64_t columns) {
  RowValues to;
  for (std::uint64_t row = 0; columns != 0 && row < x.size() / columns; ++row) {
    RowValues part(x.data() + row * columns, x.data() + (row + 1) * columns);
    const double sum = exponentials(part);
    for (const double value : part) to.push_back(value / sum);
  }
  return to;
}

RowValues sums(const RowValues& a, const RowValues& b) {
  RowValues to;
  for (std::uint64_t i = 0; i < a.size(); ++i) to.push_back(a[i] + b[i]);
  return to;
}

RowValues rms_norm(const RowValues& x, const RowValues& gamma, double epsilon) {
  const std::uint64_t columns = gamma.size();
  RowValues to;
  for (std::uint64_t first = 0; columns != 0 && first < x.size(); first += columns) {
    double squares = 0;
    for (std::uint64_t i = 0; i < columns; ++i) squares += x[first + i] * x[first + i];
    const double root = std::sqrt(squares / static_cast<double>(columns) + epsilon);
    for (std::uint64_t i = 0; i < columns; ++i) to.push_back(x[first + i] / root * gamma[i]);
  }
  return to;
}

QuantisedRows quantised(const RowValues& x, std::uint64_t columns) {
  constexpr double kMost = 127;
  QuantisedRows to;
  for (std::uint64_t first = 0; columns != 0 && first < x.size(); first += columns) {
    double largest = 0;
    for (std::uint64_t i = 0; i < columns; ++i) {
      const double size = std::abs(x[first + i]);
      largest = std::isnan(largest) || size <= largest ? largest : size;
    }
    to.scales.push_back(largest / kMost);
    for (std::uint64_t i = 0; i < columns; ++i) {
      const double value = std::nearbyint(x[first + i] * (kMost / largest));
      to.rows.push_back(std::isnan(value) ? 0 : value);
    }
  }
  return to;
}

RowValues times_columns(RowValues x, const RowValues& numbers) {
  for (std::uint64_t i = 0; i < x.size(); ++i) x[i] *= numbers[i % numbers.size()];
  return x;
}

RowValues times_rows(RowValues x, const RowValues& numbers, std::uint64_t columns) {
  for (std::uint64_t i = 0; i < x.size(); ++i) x[i] *= numbers[i / columns];
  return x;
}

}  // namespace npu::workloads
