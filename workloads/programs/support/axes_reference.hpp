// SPDX-License-Identifier: Apache-2.0
// What operators on axes, groups and optimizers must give, by plain arithmetic in double precision.
#pragma once

#include <string>

#include "kernels/operators/call.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/programs/support/row_reference.hpp"

namespace npu::workloads {

using AxisSides = std::vector<std::uint64_t>;

// Of an expression that the workload knows.
using Formula = double (*)(double a, double b, double s);
Formula formula_of(const std::string& expression);

// Of a call of the operator `broadcast`.
RowValues broadcast(Formula formula, const RowValues& a, const RowValues& b,
                    const operators::NormalisedCall& call);

// Axis i of the result is axis order[i] of x.
RowValues transposed(const RowValues& x, const AxisSides& sides, const AxisSides& order);

// Along the middle one of three axes.
RowValues softmax_axis(const RowValues& x, const AxisSides& sides);

// Sides: batch, channels, size, groups.
RowValues group_norm(const RowValues& x, const RowValues& gamma, const RowValues& beta,
                     const AxisSides& sides, double epsilon);

// A step of AdamW; tensors as the operator apply_adam_w has them. The results, which take the place
// of the first three, are rounded to `type`.
void adam_w(std::vector<RowValues>& tensors, bool maximize, DataType type);

}  // namespace npu::workloads
