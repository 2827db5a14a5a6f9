// SPDX-License-Identifier: Apache-2.0
// How a thread comes to its channel.
#pragma once

#include <cstddef>

namespace npu::compat {

// Whether this process has made a child that may call npusim as well.
bool has_forked();
// It is about to make one.
void note_child();

// A packet with a descriptor, into `data`; -1: none came.
int receive(int socket, void* data, std::size_t size);

}  // namespace npu::compat
