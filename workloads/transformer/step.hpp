// SPDX-License-Identifier: Apache-2.0
// The operators of a step, in their order: what an inference engine launches one by one
// (docs/transformer.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/operators/call.hpp"
#include "workloads/transformer/memory.hpp"

namespace npu::workloads::transformer {

inline constexpr std::uint64_t kNoLayer = UINT64_MAX;  // before the first one, or behind the last

struct Operation {
  const char* part;  // "qkv", "attention": what it is in the model
  std::uint64_t layer = kNoLayer;
  operators::OperatorCall call;
  std::uint64_t operations = 0;  // multiplications and additions of products
};

std::vector<Operation> operations_of(const Model& model, DataType type, const StepShape& shape,
                                     const ModelMemory& memory, const StepMemory& step);

}  // namespace npu::workloads::transformer
