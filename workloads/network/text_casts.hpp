// SPDX-License-Identifier: Apache-2.0
// Casts between numbers and strings (ONNX, Cast). A card has no strings: the host casts.
#pragma once

#include "npu/base/result.hpp"
#include "workloads/network/tensor.hpp"

namespace npu::network {

// The shortest decimal text that stands for the number and no other one of its type: "0.3",
// "1e-07", "2.0" of reals, "nan", "inf", "-inf"; "2" of integers; "True", "False".
Tensor to_text(const Tensor& numbers);

// Reals in plain or scientific notation, INF and NaN in any case; integers in plain notation.
// kInvalidArgument: a text that is none of the type, or beyond its range; or `type` is bool.
Result<Tensor> from_text(const Tensor& texts, ElementType type);

}  // namespace npu::network
