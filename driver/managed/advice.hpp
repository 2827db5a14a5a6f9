// SPDX-License-Identifier: Apache-2.0
// What the user says of managed pages, and what they have in common. Under the pages' lock.
#pragma once

#include "driver/managed/managed_pages.hpp"

namespace npu::driver {

// What ManagedMemory::advise() says.
Status advise(ManagedPages& pages, std::uint64_t at, Bytes size, MemoryAdvice advice, bool set,
              MemoryLocation location);
// Of a range that is all in one allocation.
bool any_read_mostly(ManagedPages& pages, std::uint64_t at, Bytes size);
Result<ManagedAttributes> attributes(ManagedPages& pages, std::uint64_t at, Bytes size);

}  // namespace npu::driver
