// SPDX-License-Identifier: Apache-2.0
// What memory makes of two elements: reductions of DMA engines, other cards and cores' stores.
#pragma once

#include <cstddef>

#include "npu/abi/element.hpp"

namespace npu::model {

// Each element of `to` becomes operation(to, from); can_reduce().
void reduce_elements(abi::ElementType type, abi::ReduceOperation operation, unsigned char* to,
                     const unsigned char* from, std::size_t bytes);

}  // namespace npu::model
