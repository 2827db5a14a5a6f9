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
  std::size_t left = 0;        // bytes from there on
  std::size_t from_begin = 0;  // bytes before it, of those that the program has named
  bool registered = false;     // the program has had its pages before
};

// Nothing: the address is in none of it.
std::optional<PinnedPlace> find_pinned(const void* address);

// The status of the call (apps/compat/acl/include/acl/acl_base.h); `*address` if it is 0.
int allocate_pinned(void** address, std::size_t size);
// Memory of the program's own becomes such memory, its bytes and address unchanged: its pages,
// whole ones, are replaced by pages that npusim has mapped. No other thread may write there
// meanwhile. What was allocated here is such memory already. 107000: not all of it can be read and
// written, some of it is registered or of the calling thread's stack.
int register_pinned(void* address, std::size_t size);
// It is what it was before. 107000: not what register_pinned() was given.
int unregister_pinned(void* address);
// Where kernels of the thread's device reach pinned memory. 107000: `host` is in none.
int device_pointer(const void* host, void** device);
// Around fork(), before anything else is done: to a child its parent's pinned memory is ordinary
// memory, and what was registered a copy, for which the parent waits.
void prepare_fork();
void fork_in_parent();
void fork_in_child();
// 107000: not what allocate_pinned() gave.
int free_pinned(void* address);

}  // namespace npu::compat
