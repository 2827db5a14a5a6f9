// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "model/host/vfio_user/listener.hpp"

namespace npu::cli {
namespace {

using model::vfio_user::UniqueFd;

constexpr std::size_t kLongestRequest = 8192;
constexpr int kPatience = 2000;  // ms, for a client that says or takes nothing

std::string response(const char* status, const char* type, const std::string& body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
}

std::string refusal(const char* status) {
  return response(status, "text/plain; charset=utf-8", std::string(status) + "\n");
}

bool wait_for(int file, short events, int stop) {
  pollfd files[] = {{file, events, 0}, {stop, POLLIN, 0}};
  int ready = 0;
  while ((ready = ::poll(files, 2, kPatience)) < 0 && errno == EINTR) {
  }
  return ready > 0 && files[1].revents == 0;
}

tl::unexpected<Error> system_error() {
  return fail(ErrorCode::kIo, std::strerror(errno));
}

}  // namespace

Status MetricsServer::listen_on_path(const std::string& path) {
  auto made = model::vfio_user::listen_at(path);
  if (!made) return forward_error(made);
  listener_ = std::move(made->fd);
  inode_ = made->inode;
  place_ = path_ = path;
  return {};
}

Status MetricsServer::listen_on_port(const std::string& host, const std::string& port) {
  std::uint16_t number = 0;
  const auto* const end = port.data() + port.size();
  const auto read = std::from_chars(port.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || (host != "127.0.0.1" && host != "localhost")) {
    return fail(ErrorCode::kInvalidArgument,
                "expected a path with a slash, or 127.0.0.1:PORT or localhost:PORT");
  }
  listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener_) return system_error();
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(number);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    return system_error();
  }
  place_ = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
  return {};
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::listen(const std::string& place) {
  std::unique_ptr<MetricsServer> server(new MetricsServer);
  const auto colon = place.rfind(':');
  const bool is_path = place.find('/') != std::string::npos || colon == std::string::npos;
  auto ok = is_path ? server->listen_on_path(place)
                    : server->listen_on_port(place.substr(0, colon), place.substr(colon + 1));
  if (!ok) return forward_error(ok);
  server->stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  server->wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!server->stop_ || !server->wake_) return system_error();
  server->thread_ = std::thread([raw = server.get()] { raw->run(); });
  return server;
}

MetricsServer::~MetricsServer() {
  if (thread_.joinable()) {
    {
      const std::lock_guard<std::mutex> held(mutex_);
      ending_ = true;
    }
    answered_.notify_all();
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  if (!path_.empty()) model::vfio_user::remove_socket(path_, inode_);
}

void MetricsServer::run() {
  // Signals are for whoever runs the simulation.
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    pollfd files[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(files, 2, -1) < 0 && errno != EINTR) return;
    if (files[1].revents != 0) return;
    if (files[0].revents == 0) continue;
    const UniqueFd client(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client) serve(client.get());
  }
}

// The head of the request is enough; one that is too long, or too slow, is none.
void MetricsServer::serve(int client) {
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos) {
    char buffer[1024];
    if (request.size() > kLongestRequest || !wait_for(client, POLLIN, stop_.get())) return;
    const auto came = ::recv(client, buffer, sizeof buffer, 0);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (came <= 0) return;
    request.append(buffer, static_cast<std::size_t>(came));
  }
  const std::string text = response_to(request);
  for (std::size_t sent = 0; sent < text.size();) {
    if (!wait_for(client, POLLOUT, stop_.get())) return;
    const auto went = ::send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (went < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (went <= 0) return;
    sent += static_cast<std::size_t>(went);
  }
}

std::string MetricsServer::response_to(const std::string& request) {
  const std::string line = request.substr(0, request.find("\r\n"));
  const auto first = line.find(' '), second = line.rfind(' ');
  if (first == std::string::npos || second == first ||
      line.compare(second + 1, 7, "HTTP/1.") != 0) {
    return refusal("400 Bad Request");
  }
  const std::string method = line.substr(0, first);
  std::string target = line.substr(first + 1, second - first - 1);
  target = target.substr(0, target.find('?'));
  if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed");
  if (target != "/metrics" && target != "/") return refusal("404 Not Found");
  const auto text = ask();
  if (text.empty()) return refusal("503 Service Unavailable");
  auto whole = response("200 OK", "text/plain; version=0.0.4; charset=utf-8", text);
  if (method == "HEAD") whole.resize(whole.size() - text.size());
  return whole;
}

// Empty: there is no one to answer any more.
std::string MetricsServer::ask() {
  std::unique_lock<std::mutex> held(mutex_);
  has_text_ = false;
  wanted_.store(true);
  if (auto* const told = told_.load()) told->store(true);
  ::eventfd_write(wake_.get(), 1);
  answered_.wait(held, [this] { return has_text_ || ending_; });
  return has_text_ ? std::exchange(text_, {}) : std::string();
}

void MetricsServer::answer(std::string text) {
  if (!wanted_.load()) return;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    eventfd_t count = 0;
    ::eventfd_read(wake_.get(), &count);
    wanted_.store(false);
    text_ = std::move(text);
    has_text_ = true;
  }
  answered_.notify_all();
}

}  // namespace npu::cli
