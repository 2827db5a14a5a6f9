// SPDX-License-Identifier: Apache-2.0
// What operators on axes, groups and optimizers must give, by plain arithmetic in double precision.
#pragma once

#include <vector>

#include "kernels/operators/call.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/programs/support/row_reference.hpp"

namespace npu::workloads {

using AxisSides = std::vector<std::uint64_t>;

// Where the operand of sides `operand` has element `index` of a tensor of sides `to`: it is
// repeated along axes where it has one element.
std::uint64_t repeated_place(std::uint64_t index, const AxisSides& to, const AxisSides& operand);

// Axis i of the result is axis order[i] of x.
RowValues transposed(const RowValues& x, const AxisSides& sides, const AxisSides& order);

// Along the middle one of three axes.
RowValues softmax_axis(const RowValues& x, const AxisSides& sides);

// Sides: batch, channels, size, groups.
RowValues group_norm(const RowValues& x, const RowValues& gamma, const RowValues& beta,
                     const AxisSides& sides, double epsilon);

// As many columns as gamma and beta have.
RowValues layer_norm(const RowValues& x, const RowValues& gamma, const RowValues& beta,
                     double epsilon);

// Rows of a table by index; negative ones are left out: 0 where rows are gathered.
RowValues gathered(const RowValues& table, const RowValues& indices, std::uint64_t columns);
RowValues scattered(RowValues table, const RowValues& indices, const RowValues& rows,
                    std::uint64_t columns);

// A step of AdamW; tensors as the operator apply_adam_w has them. The results, which take the place
// of the first three, are rounded to `type`.
void adam_w(std::vector<RowValues>& tensors, bool maximize, DataType type);

}  // namespace npu::workloads
