// SPDX-License-Identifier: Apache-2.0
// How long calls of a stream wait, and what they say when it is closed meanwhile.
#pragma once

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::driver {

// For room in a ring or for arguments, which the card makes as work ends.
inline constexpr Picoseconds kRoom = 60'000'000_us;
// Meanwhile, so often: has the stream been closed, has the other queue stopped?
inline constexpr Picoseconds kLook = 1_ms;

inline tl::unexpected<Error> stream_closed() {
  return fail(ErrorCode::kAborted, "the stream is closed");
}

}  // namespace npu::driver
