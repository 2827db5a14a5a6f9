// SPDX-License-Identifier: Apache-2.0
// Bytes that can be recognised.
#pragma once

#include <cstdint>
#include <string_view>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"

namespace npu::demo {

// Pseudo-random bytes, a function of `seed` and the offset alone.
void fill_pattern(ByteSpan bytes, std::uint64_t seed);
// kBadDevice: names the first byte that is not as fill_pattern() makes it, and how many are not.
Status check_pattern(ConstByteSpan bytes, std::uint64_t seed, std::string_view what);

void fill_value(ByteSpan bytes, unsigned value);
// The same for bytes that must all be `value`.
Status check_value(ConstByteSpan bytes, unsigned value, std::string_view what);

}  // namespace npu::demo
