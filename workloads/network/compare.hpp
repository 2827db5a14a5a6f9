// SPDX-License-Identifier: Apache-2.0
// Compares tensors within the error of their type.
#pragma once

#include "npu/base/result.hpp"
#include "workloads/network/tensor.hpp"

namespace npu::network {

// Of |found - expected|: `relative` * |expected| + `absolute`. Integers and truth are equal.
// float and double: those of the standard's own tests (onnx/backend/test/runner); the others: four
// units of the last place.
struct Tolerance {
  double relative = 0, absolute = 0;
};
Tolerance tolerance_of(ElementType type);

// `several_nodes`: it is of a network of several nodes. Their sums leave errors that go by the
// largest values: `absolute` is larger by a 64th of `relative` of the largest of `expected`.
// kWrongData: type, sides or an element differ; the context says which.
Status compare(const Tensor& found, const Tensor& expected, bool several_nodes = false);

}  // namespace npu::network
