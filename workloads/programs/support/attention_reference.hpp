// SPDX-License-Identifier: Apache-2.0
// Attention by plain arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/operators/call.hpp"

namespace npu::workloads {

// The sum of products of `count` elements, each so many apart.
double dot(const double* a, std::uint64_t step_a, const double* b, std::uint64_t step_b,
           std::uint64_t count);

// The result of an attention from q, k and v.
std::vector<double> attention_reference(const operators::NormalisedCall& call,
                                        const std::vector<double>& q, const std::vector<double>& k,
                                        const std::vector<double>& v);

}  // namespace npu::workloads
