// SPDX-License-Identifier: Apache-2.0
// Copies of memory that a program names: an address that is none is an error, not a signal.
#pragma once

#include <cstddef>

namespace npu::compat {

// From and to the program's memory, the other side being npusim's. False: not all of it is there.
bool read_own(void* to, const void* from, std::size_t count);
bool write_own(void* to, const void* from, std::size_t count);
// Within the program's memory; the two may overlap.
bool move_own(void* to, const void* from, std::size_t count);
bool fill_own(void* to, int value, std::size_t count);
// Whether all of it can be read and written and is no part of the calling thread's stack.
bool is_data(const void* begin, std::size_t count);

}  // namespace npu::compat
