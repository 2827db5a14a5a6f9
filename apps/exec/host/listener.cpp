// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/listener.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "apps/compat/protocol/socket_name.hpp"

namespace npu::exec {
namespace {

constexpr int kBacklog = 128;

// Nobody else has it, and nobody can guess it.
Result<std::string> new_name() {
  std::uint64_t number = 0;
  ssize_t got = -1;
  do {
    got = ::getrandom(&number, sizeof number, 0);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof number) return fail(ErrorCode::kIo, "no random number for a socket's name");
  return fmt::format("@npusim-exec-{}-{:016x}", ::getpid(), number);
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open() {
  const auto name = new_name();
  if (!name) return forward_error(name);
  std::unique_ptr<Listener> listener(new Listener);
  listener->name_ = *name;
  sockaddr_un address{};
  static_cast<void>(compat::set_name(address, name->c_str()));
  listener->socket_ =
      FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int file = listener->socket_.get();
  if (file < 0 || ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(file, kBacklog) != 0) {
    return fail(ErrorCode::kIo, listener->name_ + ": " + std::strerror(errno));
  }
  return listener;
}

std::optional<Arrival> Listener::welcome(Waiting& waiting, bool* gone) {
  compat::Hello hello;
  const auto got = ::recv(waiting.socket.get(), &hello, sizeof hello, MSG_DONTWAIT);
  *gone = got >= 0 || (errno != EAGAIN && errno != EINTR);
  if (got != sizeof hello || hello.magic != compat::kMagic) return std::nullopt;
  compat::Welcome answer;
  if (hello.version != compat::kVersion) {
    answer.refused = 1;
    ::send(waiting.socket.get(), &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
    return std::nullopt;
  }
  auto memory = SharedMemory::make(compat::kChannelBytes);
  if (!memory) return std::nullopt;
  const int socket = waiting.socket.get();
  auto channel = std::make_unique<Channel>(std::move(waiting.socket), std::move(*memory));
  const auto sent = send_descriptor(
      socket, {reinterpret_cast<const std::byte*>(&answer), sizeof answer}, channel->memory_file());
  if (!sent) return std::nullopt;
  return Arrival{waiting.process, hello.thread, hello.image, hello.program, std::move(channel)};
}

std::vector<Arrival> Listener::accept() {
  for (;;) {
    FileDescriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) break;
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) continue;
    if (who.uid != ::geteuid() && who.uid != 0) continue;
    waiting_.push_back({std::move(client), who.pid});
  }
  std::vector<Arrival> arrivals;
  for (auto& each : waiting_) {
    bool gone = false;
    auto arrival = welcome(each, &gone);
    if (arrival) arrivals.push_back(std::move(*arrival));
    if (gone) each.socket.reset();
  }
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                [](const Waiting& each) { return !each.socket; }),
                 waiting_.end());
  return arrivals;
}

}  // namespace npu::exec
