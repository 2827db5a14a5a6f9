// SPDX-License-Identifier: Apache-2.0
// The answer of Call::kModuleUse, one module after another.
#pragma once

#include <algorithm>
#include <cstring>

#include "apps/compat/client/request.hpp"
#include "apps/compat/protocol/memory_use.hpp"

namespace npu::compat {

// `give(i, use)` for each, at most `room`; how many it were.
template <class Give>
std::size_t each_module(std::size_t count, std::size_t room, Give give) {
  const std::byte* const from = channel_of_this_thread()->window();
  count = std::min({count, room, kWindow / sizeof(ModuleUse)});
  for (std::size_t i = 0; i < count; ++i) {
    ModuleUse use;
    std::memcpy(&use, from + i * sizeof use, sizeof use);
    use.name[sizeof use.name - 1] = 0;
    give(i, use);
  }
  return count;
}

}  // namespace npu::compat
