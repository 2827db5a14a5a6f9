// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/operations.hpp"

#include <algorithm>

namespace npu::operators {

std::uint64_t keys_seen(const NormalisedCall& call, std::uint64_t query) {
  const std::uint64_t queries = call.sides[3], keys = call.sides[4];
  return call.call.causal ? std::max(query + 1 + keys, queries) - queries : keys;
}

std::optional<std::uint64_t> operations_of(const NormalisedCall& call) {
  const auto& side = call.sides;
  const std::uint64_t product = 2 * std::uint64_t{call.m} * call.n * call.k;
  switch (call.row->family) {
    case Family::kMatmul:
    case Family::kBatched:
    case Family::kSplitK:
    case Family::kQuant:
      return product * call.batch;
    case Family::kGrouped:  // groups share m or k
      return product;
    case Family::kGemv:
      return 2 * side[0] * side[1];
    case Family::kAttention: {
      std::uint64_t scores = 0;
      for (std::uint64_t query = 0; query < side[3]; ++query) scores += keys_seen(call, query);
      return 4 * side[0] * side[1] * scores * side[5];
    }
    default:
      return std::nullopt;
  }
}

}  // namespace npu::operators
