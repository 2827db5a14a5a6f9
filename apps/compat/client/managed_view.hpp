// SPDX-License-Identifier: Apache-2.0
// Managed memory as the program uses it: through pointers. The program has no right to a page that
// is elsewhere (apps/compat/protocol/managed_view.hpp); touching it calls npusim, which brings it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::compat {

// The status of the call; `*address` if it is 0. `heap`: of the kind of the HAL's SVM heap;
// `module`: who is counted to have it.
int allocate_managed(void** address, std::uint64_t size, bool heap, std::uint64_t module);

// Whether some of the bytes are where managed memory may be, and the program has some.
bool may_be_managed(const void* begin, std::size_t count);
// The program may read the bytes now, or write them: their pages come. False: not all of them are
// managed memory. For as long as nobody else touches the pages.
bool touch_managed(const void* begin, std::size_t count, bool write);

// Around fork(): to a child its parent's managed memory is ordinary memory with the same bytes.
// Whether the parent must wait for its child's copies.
bool prepare_managed_fork();
void managed_fork_in_child();

}  // namespace npu::compat
