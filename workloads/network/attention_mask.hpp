// SPDX-License-Identifier: Apache-2.0
// Masks of attention that do not depend on the network's inputs: which keys a query sees.
#pragma once

#include <cstdint>

#include "workloads/network/tensor.hpp"

namespace npu::network {

// What a mask's elements do to a score.
enum class MaskKind : std::uint8_t {
  kNone,
  kAdded,      // 0, or at most kHidden
  kTrueShows,  // false: it is replaced by at most kHidden
  kTrueHides,
};
// A score that is smaller by so much has no weight in any type.
inline constexpr float kHidden = -1e4F;

enum class MaskShape : std::uint8_t {
  kAll,     // each query sees all keys
  kCausal,  // query i sees the keys up to i + keys - queries
  kOther,
};
// Of `queries` x `keys` scores of each head; sides of 1 are repeated.
MaskShape shape_of(const Tensor& mask, MaskKind kind, std::uint64_t queries, std::uint64_t keys);

}  // namespace npu::network
