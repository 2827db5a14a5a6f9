// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/connection.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "npu/base/text.hpp"

namespace npu::gdb {
namespace {

bool parse(const std::string& where, sockaddr_in& address) {
  const auto colon = where.rfind(':');
  if (colon == std::string::npos) return false;
  const std::string host = where.substr(0, colon);
  const auto port = read_number<std::uint16_t>(where.substr(colon + 1));
  if (!port) return false;
  address.sin_family = AF_INET;
  address.sin_port = htons(*port);
  return inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host.c_str(), &address.sin_addr) ==
         1;
}

std::string text_of(const sockaddr_in& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return fmt::format("{}:{}", text.data(), ntohs(address.sin_port));
}

}  // namespace

Result<Connection> Connection::listen(const std::string& where) {
  sockaddr_in address{};
  if (!parse(where, address)) {
    return fail(ErrorCode::kInvalidArgument,
                "found '" + where + "'; allowed: ADDRESS:PORT, such as 127.0.0.1:2331");
  }
  FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (!listener || setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(listener.get(), name, length) != 0 || ::listen(listener.get(), 1) != 0 ||
      getsockname(listener.get(), name, &length) != 0) {
    return fail(ErrorCode::kInvalidArgument, where + ": " + std::strerror(errno));
  }
  return Connection(std::move(listener), text_of(address));
}

Connection::Connection(FileDescriptor listener, std::string address)
    : listener_(std::move(listener)), address_(std::move(address)) {}

Connection::Connection(FileDescriptor in, FileDescriptor out)
    : in_(std::move(in)), out_(std::move(out)) {}

// Not by accept() alone: it goes on behind a signal. A signal just ahead of poll() is seen a little
// later.
bool Connection::wait_for(int file, bool (*given_up)()) {
  for (;;) {
    pollfd one{file, POLLIN, 0};
    if (::poll(&one, 1, kLookAgainMs) > 0) return true;
    if (given_up()) return false;
  }
}

bool Connection::accept(bool (*given_up)()) {
  if (!listener_) return true;
  if (!wait_for(listener_.get(), given_up)) return false;
  in_ = FileDescriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!in_) return false;
  const int on = 1;
  setsockopt(in_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  listener_ = FileDescriptor();
  return true;
}

std::string Connection::read(bool (*given_up)()) {
  std::array<char, 4096> bytes{};
  while (!broken_) {
    if (!wait_for(in_.get(), given_up)) return {};
    const ssize_t got = ::read(in_.get(), bytes.data(), bytes.size());
    if (got > 0) return {bytes.data(), static_cast<std::size_t>(got)};
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    broken_ = true;
  }
  return {};
}

long Connection::read_now(char* to, std::size_t room) const {
  pollfd one{in_.get(), POLLIN, 0};
  if (::poll(&one, 1, 0) <= 0) return 0;
  const ssize_t got = ::read(in_.get(), to, room);
  return got > 0 ? got : -1;
}

void Connection::write(std::string_view bytes) const {
  const int to = out_ ? out_.get() : in_.get();
  while (!bytes.empty()) {
    // Never SIGPIPE.
    ssize_t done = out_ ? ::write(to, bytes.data(), bytes.size())
                        : ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void Connection::announce() const {
  const f_owner_ex owner{F_OWNER_TID, static_cast<pid_t>(syscall(SYS_gettid))};
  fcntl(in_.get(), F_SETOWN_EX, &owner);
  fcntl(in_.get(), F_SETFL, fcntl(in_.get(), F_GETFL) | O_ASYNC);
}

void Connection::close() {
  in_ = FileDescriptor();
  out_ = FileDescriptor();
  broken_ = true;
}

}  // namespace npu::gdb
