// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tensor.hpp"

#include <fmt/format.h>

namespace npu::network {

std::string text_of(const Sides& sides) {
  return sides.empty() ? "scalar" : fmt::format("{}", fmt::join(sides, "x"));
}

std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  if (tensor.type == ElementType::kInt64) return tensor.values<std::int64_t>();
  if (tensor.type != ElementType::kInt32) return {};
  const auto narrow = tensor.values<std::int32_t>();
  return {narrow.begin(), narrow.end()};
}

}  // namespace npu::network
