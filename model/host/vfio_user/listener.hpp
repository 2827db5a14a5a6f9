// SPDX-License-Identifier: Apache-2.0
// Listening UNIX sockets in the file system.
#pragma once

#include <sys/types.h>

#include <string>

#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"

namespace npu::model::vfio_user {

struct ListeningSocket {
  FileDescriptor fd;  // does not block
  ino_t inode;        // of the socket in the file system
};

// Errors: see Server::listen().
Result<ListeningSocket> listen_at(const std::string& path);

// Removes the socket at `path` if it is still the one with that inode.
void remove_socket(const std::string& path, ino_t inode);

}  // namespace npu::model::vfio_user
