// SPDX-License-Identifier: Apache-2.0
// The functions of libascendcl that this library stands in front of.
#pragma once

#include <cstddef>

namespace npu::share {

struct Hook {
  const char* name;
  void* function;  // ours
};

// Null: it stands in front of none of that name.
const Hook* find_hook(const char* name);
// Its place among all of them, below kMostHooks.
std::size_t place_of(const Hook& hook);
inline constexpr std::size_t kMostHooks = 32;

}  // namespace npu::share
