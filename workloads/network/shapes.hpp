// SPDX-License-Identifier: Apache-2.0
// Sides of inputs that a user gives: "NAME:2x3x4,NAME:5".
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "workloads/network/graph.hpp"

namespace npu::network {

// kInvalidArgument: no such input, no numbers, or others than those that the model fixes.
Status set_shapes(Graph& graph, const std::string& shapes);

}  // namespace npu::network
