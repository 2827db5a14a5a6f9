// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/listener.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "npu/base/shortened.hpp"

namespace npu::model::vfio_user {
namespace {

// The error of the system call that has just failed.
tl::unexpected<Error> io_error(std::string_view what, const std::string& path) {
  const std::string reason = std::generic_category().message(errno);
  return fail(ErrorCode::kIo, std::string(what) + " " + path + ": " + reason);
}

UniqueFd make_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Makes room for a new socket: only a socket that nobody listens on may go.
Status remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return fail(ErrorCode::kAlreadyExists, path + " is there and is no socket");
  }
  const UniqueFd probe = make_socket();
  if (!probe) return io_error("socket for", path);
  const bool refused =
      ::connect(probe.get(), generic(address), sizeof address) != 0 && errno == ECONNREFUSED;
  if (!refused) return fail(ErrorCode::kBusy, "somebody listens on " + path);
  if (::unlink(path.c_str()) != 0) return io_error("unlink", path);
  return {};
}

}  // namespace

Result<ListeningSocket> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::kInvalidArgument,
                "socket path of 1 to " + std::to_string(sizeof address.sun_path - 1) +
                    " characters expected: \"" + shortened(path) + "\"");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (const auto room = remove_stale(path, address); !room) return forward_error(room);
  ListeningSocket made{make_socket(), 0};
  if (!made.fd) return io_error("socket for", path);
  if (::bind(made.fd.get(), generic(address), sizeof address) != 0) return io_error("bind", path);
  struct stat info {};
  if (::listen(made.fd.get(), SOMAXCONN) != 0 || ::lstat(path.c_str(), &info) != 0) {
    return io_error("listen", path);
  }
  made.inode = info.st_ino;
  return made;
}

void remove_socket(const std::string& path, ino_t inode) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode) && info.st_ino == inode) {
    ::unlink(path.c_str());
  }
}

}  // namespace npu::model::vfio_user
