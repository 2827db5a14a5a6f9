// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/axes_reference.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/operators/axes.hpp"

namespace npu::workloads {
namespace {

// Elements from one to the next along each axis.
AxisSides steps_of(const AxisSides& sides) {
  AxisSides steps(sides.size(), 1);
  for (std::size_t i = sides.size(); i-- > 1;) steps[i - 1] = steps[i] * sides[i];
  return steps;
}

// Where element `index` of `sides` is with other steps.
std::uint64_t place_of(std::uint64_t index, const AxisSides& sides, const AxisSides& steps) {
  std::uint64_t place = 0;
  for (std::size_t i = sides.size(); i-- > 0;) {
    place += index % sides[i] * steps[i];
    index /= sides[i];
  }
  return place;
}

// Steps of an operand along the axes of the result; 0 where it is repeated.
AxisSides repeated_steps(const AxisSides& operand, const AxisSides& to) {
  AxisSides sides(to.size(), 1);
  std::copy(operand.begin(), operand.end(),
            sides.end() - static_cast<std::ptrdiff_t>(operand.size()));
  AxisSides steps = steps_of(sides);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (sides[i] == 1) steps[i] = 0;
  }
  return steps;
}

}  // namespace

std::uint64_t repeated_place(std::uint64_t index, const AxisSides& to, const AxisSides& operand) {
  return place_of(index, to, repeated_steps(operand, to));
}

RowValues transposed(const RowValues& x, const AxisSides& sides, const AxisSides& order) {
  const AxisSides steps = steps_of(sides);
  AxisSides to(sides.size()), from(sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) to[i] = sides[order[i]], from[i] = steps[order[i]];
  RowValues result(x.size());
  for (std::uint64_t i = 0; i < x.size(); ++i) result[i] = x[place_of(i, to, from)];
  return result;
}

RowValues softmax_axis(const RowValues& x, const AxisSides& sides) {
  const AxisSides rows{sides[0], sides[2], sides[1]}, order{0, 2, 1};
  return transposed(softmax(transposed(x, sides, order), sides[1]), rows, order);
}

RowValues group_norm(const RowValues& x, const RowValues& gamma, const RowValues& beta,
                     const AxisSides& sides, double epsilon) {
  const std::uint64_t channels = sides[1], size = sides[2];
  const std::uint64_t length = channels / sides[3] * size;
  RowValues to;
  to.reserve(x.size());
  for (std::uint64_t first = 0; length != 0 && first < x.size(); first += length) {
    double sum = 0, squares = 0;
    for (std::uint64_t i = 0; i < length; ++i) sum += x[first + i];
    const double mean = sum / static_cast<double>(length);
    for (std::uint64_t i = 0; i < length; ++i)
      squares += (x[first + i] - mean) * (x[first + i] - mean);
    const double root = std::sqrt(squares / static_cast<double>(length) + epsilon);
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::uint64_t channel = (first + i) / size % channels;
      to.push_back((x[first + i] - mean) / root * gamma[channel] + beta[channel]);
    }
  }
  return to;
}

// A batch of one channel each.
RowValues layer_norm(const RowValues& x, const RowValues& gamma, const RowValues& beta,
                     double epsilon) {
  const std::uint64_t columns = gamma.size();
  if (columns == 0) return {};
  RowValues to = group_norm(x, {1}, {0}, {x.size() / columns, 1, columns, 1}, epsilon);
  for (std::uint64_t i = 0; i < to.size(); ++i)
    to[i] = to[i] * gamma[i % columns] + beta[i % columns];
  return to;
}

RowValues gathered(const RowValues& table, const RowValues& indices, std::uint64_t columns) {
  RowValues to(indices.size() * columns);
  for (std::uint64_t i = 0; i < to.size(); ++i) {
    const auto row = static_cast<std::int64_t>(indices[i / columns]);
    if (row >= 0) to[i] = table[static_cast<std::uint64_t>(row) * columns + i % columns];
  }
  return to;
}

RowValues scattered(RowValues table, const RowValues& indices, const RowValues& rows,
                    std::uint64_t columns) {
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::int64_t>(indices[i / columns]);
    if (row >= 0) table[static_cast<std::uint64_t>(row) * columns + i % columns] = rows[i];
  }
  return table;
}

void adam_w(std::vector<RowValues>& tensors, bool maximize, DataType type) {
  const auto number = [&](std::size_t i) { return tensors[i][0]; };
  const double beta1 = number(8), beta2 = number(9), rate = number(6);
  const double bias1 = 1 - number(4) * beta1, bias2 = 1 - number(5) * beta2;
  for (std::size_t i = 0; i < tensors[0].size(); ++i) {
    const double g = maximize ? -tensors[3][i] : tensors[3][i];
    const double m = beta1 * tensors[1][i] + (1 - beta1) * g;
    const double v = beta2 * tensors[2][i] + (1 - beta2) * g * g;
    const double step = rate * m / bias1 / (std::sqrt(v) / std::sqrt(bias2) + number(10));
    const double x = tensors[0][i];
    tensors[0][i] = rounded_to(type, x - x * rate * number(7) - step);
    tensors[1][i] = rounded_to(type, m), tensors[2][i] = rounded_to(type, v);
  }
}

}  // namespace npu::workloads
