// SPDX-License-Identifier: Apache-2.0
// The name of a socket as an address: a path, or behind an @ a name that is no file. Nothing stays
// of that one when its owner has ended, however he does.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

namespace npu::compat {

// False: the name is too long. The address is of its full size, whatever the name.
inline bool set_name(sockaddr_un& address, const char* name) {
  address = {};
  address.sun_family = AF_UNIX;
  const auto size = std::strlen(name);
  if (size >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, name, size);
  if (name[0] == '@') address.sun_path[0] = 0;
  return true;
}

}  // namespace npu::compat
