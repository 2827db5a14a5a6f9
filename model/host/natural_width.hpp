// SPDX-License-Identifier: Apache-2.0
// How a range of bytes is cut into accesses that a bus takes.
#pragma once

#include "npu/base/units.hpp"

namespace npu::model {

// Of an access of a BAR that a client asks for: others want to be served, too.
inline constexpr Bytes kLongestBarAccess = 4_KiB;

// The widest power of two of at most `most` bytes that begins at `offset`, is aligned there and has
// at most `count` bytes. `count` >= 1, `most` a power of two.
inline unsigned natural_width(Bytes offset, Bytes count, unsigned most) {
  unsigned width = most;
  while (width > count || offset % width != 0) width /= 2;
  return width;
}

}  // namespace npu::model
