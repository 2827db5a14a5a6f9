// SPDX-License-Identifier: Apache-2.0
// Indices that are tensors, as places in another tensor. The host reads them when a node runs.
#pragma once

#include <vector>

#include "workloads/network/lowering.hpp"

namespace npu::network {

using Places = std::vector<std::int64_t>;

// Indices of `rows`, negative ones from the end. Refused: others.
Places indices_of(Lowering& node, const Value& indices, std::uint64_t rows);
// For each index the place of the element at the same coordinates, but for `axis`, in a tensor of
// `sides`.
Places places_along(Lowering& node, const Value& indices, const Sides& sides, std::size_t axis);
// The last axis of `indices` has coordinates, for the axes of a tensor from `batch` on; axes before
// are those of the indices. The rows that they name.
Places rows_named(Lowering& node, const Value& indices, const Sides& sides, std::size_t batch);

}  // namespace npu::network
