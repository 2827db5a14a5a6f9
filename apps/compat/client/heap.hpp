// SPDX-License-Identifier: Apache-2.0
// Managed memory of the HAL's heap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::compat {

// Where the page of a pointer is.
struct PagePlace {
  bool managed = false, heap = false, on_host = false;
};

// The status of the call.
int look_at(std::uint64_t address, PagePlace* place);
// Pages of the heap that the host has, to the device of the machine's number. 107000: the address
// is no multiple of 2 MiB, or not all of it is such pages.
int prefetch_heap(std::uint64_t address, std::size_t length, std::int64_t device);

}  // namespace npu::compat
