// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/eventfd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace npu::model::vfio_user {

bool prepare_eventfd(int fd) {
  constexpr std::string_view kName = "anon_inode:[eventfd]";
  char name[64];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), name, sizeof name);
  if (length < 0 || std::string_view(name, static_cast<std::size_t>(length)) != kName) return false;
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

void signal_eventfd(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

}  // namespace npu::model::vfio_user
