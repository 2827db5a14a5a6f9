// SPDX-License-Identifier: Apache-2.0
// Of lined_program.cpp, in a file of its own.
#pragma once

#include "npu/platform/aicore_port.hpp"

namespace npu::test {

inline constexpr std::uint32_t kLinedBytes = 256;

inline void load_lined(platform::AicorePort& port) {
  platform::CopyIn copy;
  copy.to = {platform::LocalBuffer::kUb, 0};
  copy.from = port.call().arguments;
  copy.row_bytes = copy.to_pitch = kLinedBytes;
  port.issue(copy);  // the load
}

}  // namespace npu::test
