// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/client/socket_channel.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "npu/base/shortened.hpp"

namespace npu::dsmi {
namespace {

// A server that has stopped to answer is gone.
// Ending a device takes as long as its neighbours' work meanwhile takes to be simulated.
constexpr timeval kTimeout{60, 0};

bool send_all(int file, const void* data, std::size_t length) {
  const auto* bytes = static_cast<const char*>(data);
  while (length > 0) {
    const auto sent = ::send(file, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    length -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int file, void* data, std::size_t length) {
  auto* bytes = static_cast<char*>(data);
  while (length > 0) {
    const auto received = ::recv(file, bytes, length, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes += received;
    length -= static_cast<std::size_t>(received);
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<SocketChannel>> SocketChannel::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no path of a socket", shortened(path)));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!file) return fail(ErrorCode::kIo, std::strerror(errno));
  ::setsockopt(file.get(), SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof kTimeout);
  ::setsockopt(file.get(), SOL_SOCKET, SO_SNDTIMEO, &kTimeout, sizeof kTimeout);
  if (::connect(file.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(ErrorCode::kIo, fmt::format("'{}': {}", shortened(path), std::strerror(errno)));
  }
  return std::shared_ptr<SocketChannel>(new SocketChannel(std::move(file)));
}

std::optional<std::uint64_t> SocketChannel::ask(Request request, std::uint32_t card,
                                                std::uint64_t offset, std::uint64_t value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!file_) return std::nullopt;
  const RequestMessage message{request, card, offset, value};
  AnswerMessage answer;
  if (!send_all(file_.get(), &message, sizeof message) ||
      !receive_all(file_.get(), &answer, sizeof answer)) {
    file_.reset();  // half a message is none
    return std::nullopt;
  }
  if (answer.answer != Answer::kDone) return std::nullopt;
  return answer.value;
}

}  // namespace npu::dsmi
