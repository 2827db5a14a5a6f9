// SPDX-License-Identifier: Apache-2.0
// How a thread comes to its channel.
#pragma once

#include <cstddef>

#include "npu/base/file_descriptor.hpp"

namespace npu::compat {

class Channel;

// Of the calling thread; null: the program does not run under `npusim exec`, npusim has gone, or
// the program has no room for a connection just now.
Channel* channel_of_this_thread();
// The same if a thread of this process has called npusim, whichever; else null.
Channel* channel_in_connected_process();

// Whether this process has a child, which may call npusim as well: 1; or has had one, whose own
// children may have outlived it: 2. The kernel is asked, because vfork(), clone() and posix_spawn()
// call nobody.
unsigned children();

// A packet with a descriptor, into `data`; nothing: none came.
FileDescriptor receive(int socket, void* data, std::size_t size);

}  // namespace npu::compat
