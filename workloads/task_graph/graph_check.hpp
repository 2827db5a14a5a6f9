// SPDX-License-Identifier: Apache-2.0
// Tensors of the card against what the graph's file says they should be.
#pragma once

#include <functional>
#include <vector>

#include "workloads/task_graph/contents.hpp"

namespace npu::workloads {

struct CheckOutcome {
  std::uint64_t elements = 0;  // compared
  double largest_error = 0;    // relative to the largest value expected in the tensor
};

using ReadTensor = std::function<Result<std::vector<std::byte>>(const Tensor&)>;

// kInvalidArgument: the check itself makes no sense (a formula of tensors that do not fit);
// kWrongData: a tensor differs by more than its tolerance, the worst element is named.
Result<CheckOutcome> check_tensors(const GraphSpec& spec, const std::vector<Tensor>& tensors,
                                   const ReadTensor& read);

}  // namespace npu::workloads
