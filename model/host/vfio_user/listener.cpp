// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

FileDescriptor make_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// The folder of a path, as a descriptor: names below it may be as long as they have to be.
FileDescriptor open_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return FileDescriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// Listens, and has its name only then: who sees the socket can connect to it. In between it has
// another name in the same folder. False with errno.
bool listen_and_name(int socket, const std::string& path) {
  constexpr unsigned kTries = 1000;  // names that somebody who was killed may have left
  const FileDescriptor folder = open_folder(path);
  if (!folder) return false;
  const std::string descriptor = "/proc/self/fd/" + std::to_string(folder.get()) + "/";
  std::string name;
  bool bound = false;
  for (unsigned i = 0; i < kTries && !bound; ++i) {
    name = ".npusim-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    const auto address = address_of(descriptor + name);
    bound = ::bind(socket, generic(address), sizeof address) == 0;
    if (!bound && errno != EADDRINUSE) return false;
  }
  const bool named = bound && ::listen(socket, SOMAXCONN) == 0 &&
                     ::linkat(folder.get(), name.c_str(), AT_FDCWD, path.c_str(), 0) == 0;
  const int error = errno;
  if (bound) ::unlinkat(folder.get(), name.c_str(), 0);
  errno = error;
  return named;
}

// Makes room for a new socket: only a socket that nobody listens on may go.
Status remove_stale(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return fail(ErrorCode::kAlreadyExists, path + " is there and is no socket");
  }
  const FileDescriptor probe = make_socket();
  if (!probe) return io_error("socket for", path);
  const auto address = address_of(path);
  const bool refused =
      ::connect(probe.get(), generic(address), sizeof address) != 0 && errno == ECONNREFUSED;
  if (!refused) return fail(ErrorCode::kBusy, "somebody listens on " + path);
  if (::unlink(path.c_str()) != 0) return io_error("unlink", path);
  return {};
}

}  // namespace

Result<ListeningSocket> listen_at(const std::string& path) {
  constexpr std::size_t kLongest = sizeof sockaddr_un::sun_path - 1;
  if (path.empty() || path.size() > kLongest) {
    return fail(ErrorCode::kInvalidArgument, "socket path of 1 to " + std::to_string(kLongest) +
                                                 " characters expected: \"" + shortened(path) +
                                                 "\"");
  }
  if (const auto room = remove_stale(path); !room) return forward_error(room);
  ListeningSocket made{make_socket(), 0};
  if (!made.fd) return io_error("socket for", path);
  struct stat info {};
  if (!listen_and_name(made.fd.get(), path) || ::lstat(path.c_str(), &info) != 0) {
    return io_error("listen on", path);
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
