// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/metrics/client_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace npu::cli {
namespace {

constexpr std::chrono::seconds kTimeout{2};  // for the request, and as much for the answer
constexpr std::size_t kLongestRequest = 8192;

}  // namespace

ClientStream::ClientStream(FileDescriptor client, int stop)
    : client_(std::move(client)), stop_(stop), read_deadline_(Clock::now() + kTimeout) {}

bool ClientStream::wait_for(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd files[] = {{client_.get(), events, 0}, {stop_, POLLIN, 0}};
    const int ready = ::poll(files, 2, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && files[1].revents == 0;
  }
}

bool ClientStream::is_readable() const {
  return taken_ < ahead_.size() || wait_for(POLLIN, read_deadline_);
}

bool ClientStream::is_writable() const {
  return wait_for(POLLOUT, Clock::now() + kTimeout);
}

ssize_t ClientStream::read(char* to, size_t size) {
  while (taken_ == ahead_.size()) {
    char buffer[1024];
    if (come_ >= kLongestRequest || !wait_for(POLLIN, read_deadline_)) return -1;
    const auto came = ::recv(client_.get(), buffer, sizeof buffer, 0);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (came <= 0) return came;
    ahead_.assign(buffer, static_cast<std::size_t>(came));
    taken_ = 0;
    come_ += ahead_.size();
  }
  const std::size_t part = std::min(size, ahead_.size() - taken_);
  std::copy_n(ahead_.data() + taken_, part, to);
  taken_ += part;
  return static_cast<ssize_t>(part);
}

ssize_t ClientStream::write(const char* from, size_t size) {
  if (write_deadline_ == Clock::time_point{}) write_deadline_ = Clock::now() + kTimeout;
  std::size_t sent = 0;
  while (sent < size) {
    if (!wait_for(POLLOUT, write_deadline_)) return -1;
    const auto went = ::send(client_.get(), from + sent, size - sent, MSG_NOSIGNAL);
    if (went < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (went <= 0) return -1;
    sent += static_cast<std::size_t>(went);
  }
  return static_cast<ssize_t>(sent);
}

// Nobody is told apart by where he asks from.
void ClientStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void ClientStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace npu::cli
