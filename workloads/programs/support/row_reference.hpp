// SPDX-License-Identifier: Apache-2.0
// What operators on rows must give, by plain arithmetic in double precision. Matrices lie row by
// row.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::workloads {

using RowValues = std::vector<double>;

// silu of one half of each row, times the other; `columns`: of x, even.
RowValues swi_glu(const RowValues& x, std::uint64_t columns, bool activate_left = true);

// exp(x - largest) in place, and their sum. Not empty.
double exponentials(RowValues& row);
RowValues softmax(const RowValues& x, std::uint64_t columns);

RowValues sums(const RowValues& a, const RowValues& b);
// As many columns as gamma has.
RowValues rms_norm(const RowValues& x, const RowValues& gamma, double epsilon);

// What is no number when it is divided by the scale is 0.
struct QuantisedRows {
  RowValues rows, scales;
};
QuantisedRows quantised(const RowValues& x, std::uint64_t columns);

// x times a number of its column; of its row.
RowValues times_columns(RowValues x, const RowValues& numbers);
RowValues times_rows(RowValues x, const RowValues& numbers, std::uint64_t columns);

}  // namespace npu::workloads
