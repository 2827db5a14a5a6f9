// SPDX-License-Identifier: Apache-2.0
// Operators as launches of npusim's kernels.
#pragma once

#include <runtime/base.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "apps/compat/acl/tensor.hpp"

namespace npu::compat {

// The launch of an operator.
struct OperatorLaunch {
  const char* kernel = nullptr;  // as acl/npusim_kernels.h names it
  std::vector<std::byte> arguments;
};

template <class Arguments>
void put(const Arguments& arguments, OperatorLaunch* launch) {
  launch->arguments.resize(sizeof arguments);
  std::memcpy(launch->arguments.data(), &arguments, sizeof arguments);
}
// In the stream's order, on as many cores as it may use.
aclError run(OperatorLaunch& launch, void* stream);

struct OperatorCall {
  std::string_view name;
  std::vector<const aclTensorDesc*> input_tensors, output_tensors;
  std::vector<const aclDataBuffer*> inputs, outputs;
  const aclopAttr* attributes = nullptr;  // or null: none
};

// Row by row, whatever the sides are called.
bool is_plain(const aclTensorDesc* tensor);
// What acl_op.h says of operators. No pointer of the call is null.
aclError make_launch(const OperatorCall& call, OperatorLaunch* launch);

}  // namespace npu::compat
