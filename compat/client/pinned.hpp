// SPDX-License-Identifier: Apache-2.0
// Host memory that npusim has mapped as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace npu::compat {

struct PinnedPlace {
  std::uint64_t memory = 0;  // its number
  std::size_t offset = 0;
  std::size_t left = 0;  // bytes from there on
};

// Nothing: the address is in none of it.
std::optional<PinnedPlace> find_pinned(const void* address);

// The status of the call (compat/acl/include/acl/acl_base.h); `*address` if it is 0.
int allocate_pinned(void** address, std::size_t size);
// By a child of fork(): its parent's memory is ordinary memory to it.
void forget_pinned();
// 107000: not what allocate_pinned() gave.
int free_pinned(void* address);

}  // namespace npu::compat
