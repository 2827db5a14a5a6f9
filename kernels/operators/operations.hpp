// SPDX-License-Identifier: Apache-2.0
// Multiplications and additions that a call asks for, of products and attention.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/operators/call.hpp"

namespace npu::operators {

// Of flash_attention: how many keys that query sees.
std::uint64_t keys_seen(const NormalisedCall& call, std::uint64_t query);

// None: it is no product and no attention.
std::optional<std::uint64_t> operations_of(const NormalisedCall& call);

}  // namespace npu::operators
