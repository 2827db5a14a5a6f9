// SPDX-License-Identifier: Apache-2.0
// What modules of a program have of a card's memory, as Call::kModuleUse gives it in the window.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::compat {

struct ModuleUse {
  char name[32] = {};      // with a zero byte
  std::uint64_t now = 0;   // bytes
  std::uint64_t most = 0;  // at a time
};
static_assert(sizeof(ModuleUse) == 48);

}  // namespace npu::compat
