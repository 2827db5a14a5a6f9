// SPDX-License-Identifier: Apache-2.0
// What a program had when its device was reset or it ended, and had not given back by its own
// calls.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::exec::acl {

struct Leftovers {
  std::uint64_t blocks = 0, pinned_blocks = 0, streams = 0, events = 0;
  Bytes memory = 0;  // of the device: plain, managed, physical
  Bytes pinned = 0;  // of the host

  bool any() const { return blocks + pinned_blocks + streams + events != 0; }
};

}  // namespace npu::exec::acl
