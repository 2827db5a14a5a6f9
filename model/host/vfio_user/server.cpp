// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/server.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "model/host/vfio_user/listener.hpp"

namespace npu::model::vfio_user {
namespace {

UniqueFd open_reserve() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

Server::Server() : reserve_(open_reserve()) {}

Server::~Server() {
  for (auto& endpoint : endpoints_) end(endpoint);
}

void Server::end(Endpoint& endpoint) {
  // Nobody is to find a socket that is about to go.
  remove_socket(endpoint.path, endpoint.inode);
  if (endpoint.connection) endpoint.connection->wind_up();
  endpoint.connection.reset();
}

void Server::close(const ServedDevice& device) {
  const auto found =
      std::find_if(endpoints_.begin(), endpoints_.end(),
                   [&](const Endpoint& endpoint) { return endpoint.device == &device; });
  if (found == endpoints_.end()) return;
  end(*found);
  endpoints_.erase(found);
}

Status Server::listen(const std::string& path, ServedDevice& device) {
  auto made = listen_at(path);
  if (!made) return forward_error(made);
  endpoints_.push_back({path, std::move(made->fd), made->inode, &device, nullptr});
  return {};
}

void Server::wake_on(int descriptor) {
  wake_descriptors_.push_back(descriptor);
}

bool Server::has_client() const {
  return std::any_of(endpoints_.begin(), endpoints_.end(), [](const Endpoint& endpoint) {
    return endpoint.connection != nullptr && endpoint.connection->negotiated();
  });
}

bool Server::has_client(const ServedDevice& device) const {
  return std::any_of(endpoints_.begin(), endpoints_.end(), [&](const Endpoint& endpoint) {
    return endpoint.device == &device && endpoint.connection != nullptr &&
           endpoint.connection->negotiated();
  });
}

void Server::collect_polls() {
  polls_.clear();
  for (const auto& endpoint : endpoints_) {
    const auto* connection = endpoint.connection.get();
    const bool sends = connection != nullptr && connection->wants_to_send();
    // poll() passes over negative descriptors.
    polls_.push_back({connection != nullptr ? connection->socket() : -1,
                      static_cast<short>(sends ? POLLOUT : POLLIN), 0});
  }
  for (const auto& endpoint : endpoints_) polls_.push_back({endpoint.listener.get(), POLLIN, 0});
  for (const int descriptor : wake_descriptors_) polls_.push_back({descriptor, POLLIN, 0});
}

UniqueFd Server::accept_or_drop(int listener) {
  constexpr int kFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;
  UniqueFd client(::accept4(listener, nullptr, nullptr, kFlags));
  if (client || (errno != EMFILE && errno != ENFILE)) return client;
  // Left in the queue, it would wake us again and again.
  reserve_.reset();
  UniqueFd(::accept4(listener, nullptr, nullptr, kFlags)).reset();
  reserve_ = open_reserve();
  ++statistics_.refused;
  return client;
}

bool Server::accept(Endpoint& endpoint) {
  // The next client may come before the last words of the one that went are handled.
  if (endpoint.connection != nullptr && endpoint.connection->peer_gone()) return false;
  UniqueFd client = accept_or_drop(endpoint.listener.get());
  if (!client) return false;
  if (endpoint.connection != nullptr) {
    ++statistics_.refused;
    return true;
  }
  endpoint.connection =
      std::make_unique<Connection>(std::move(client), *endpoint.device, statistics_);
  return true;
}

bool Server::drop_failed() {
  bool dropped = false;
  for (auto& endpoint : endpoints_) {
    if (endpoint.connection == nullptr || !endpoint.connection->failed()) continue;
    endpoint.connection.reset();
    dropped = true;
  }
  return dropped;
}

bool Server::serve(int timeout_ms) {
  if (drop_failed()) return true;
  collect_polls();
  if (::poll(polls_.data(), polls_.size(), timeout_ms) <= 0) return false;
  bool did_something = false;
  const std::size_t count = endpoints_.size();
  for (std::size_t i = 0; i < count; ++i) {
    auto& connection = endpoints_[i].connection;
    if (polls_[i].revents == 0) continue;
    did_something = connection->turn() || did_something;
    if (connection->over()) connection.reset();
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (polls_[count + i].revents != 0) did_something = accept(endpoints_[i]) || did_something;
  }
  return did_something;
}

}  // namespace npu::model::vfio_user
