// SPDX-License-Identifier: Apache-2.0
// Operators that npusim compiles on demand. The window has the tensors and the name.
#include <runtime/npusim_rt.h>

#include <algorithm>
#include <cstring>

#include "apps/compat/rt/outcome.hpp"

namespace npu::compat {
namespace {

wire::OperatorTensor wire_tensor(const npusimRtTensor& tensor) {
  wire::OperatorTensor all;
  all.address = word(tensor.data);
  all.bytes = tensor.bytes;
  all.type = tensor.type;
  all.dimensions = tensor.dimensions;
  std::copy_n(tensor.sides, tensor.dimensions, all.sides);
  return all;
}

std::uint64_t bits_of(float number) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

}  // namespace
}  // namespace npu::compat

extern "C" rtError_t npusimRtRunOperator(const npusimRtOperator* wanted, rtStream_t stream) {
  using namespace npu::compat;
  const std::size_t tensors = std::size_t{wanted->inputs} + wanted->results;
  const std::size_t name = std::strlen(wanted->name);
  if (tensors > wire::kMostTensors || name > wire::kLongestOperator) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return kNoServer;
  std::byte* to = channel->window();
  for (std::size_t i = 0; i < tensors; ++i) {
    if (wanted->tensors[i].dimensions > wire::kMostDimensions) return ACL_ERROR_RT_PARAM_INVALID;
    const auto tensor = wire_tensor(wanted->tensors[i]);
    std::memcpy(to, &tensor, sizeof tensor);
    to += sizeof tensor;
  }
  std::memcpy(to, wanted->name, name);
  return rt_ask<Call::kRunOperator>(
      {word(stream), wanted->inputs, wanted->results, name,
       bits_of(wanted->epsilon) | bits_of(wanted->scale) << 32U, bits_of(wanted->value)},
      nullptr, tensors * sizeof(wire::OperatorTensor) + name);
}
