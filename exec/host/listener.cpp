// SPDX-License-Identifier: Apache-2.0
#include "exec/host/listener.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace npu::exec {
namespace {

constexpr int kBacklog = 128;

std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  std::string folder =
      std::string(named != nullptr && *named != 0 ? named : "/tmp") + "/npusim-exec-XXXXXX";
  return ::mkdtemp(folder.data()) == nullptr ? std::string() : folder;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open() {
  std::unique_ptr<Listener> listener(new Listener);
  listener->folder_ = temporary_folder();
  listener->path_ = listener->folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (listener->folder_.empty() || listener->path_.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::kIo, std::string("no folder for a socket: ") + std::strerror(errno));
  }
  std::memcpy(address.sun_path, listener->path_.data(), listener->path_.size());
  listener->socket_ =
      FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int file = listener->socket_.get();
  if (file < 0 || ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(file, kBacklog) != 0) {
    return fail(ErrorCode::kIo, listener->path_ + ": " + std::strerror(errno));
  }
  return listener;
}

Listener::~Listener() {
  socket_.reset();
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
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
  return Arrival{waiting.process, hello.thread, std::move(channel)};
}

std::vector<Arrival> Listener::accept() {
  for (;;) {
    FileDescriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) break;
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) continue;
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
