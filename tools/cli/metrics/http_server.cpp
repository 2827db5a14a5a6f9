// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/metrics/http_server.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "model/host/vfio_user/listener.hpp"
#include "npu/base/text.hpp"

namespace npu::cli {
namespace {

tl::unexpected<Error> system_error() {
  return fail(ErrorCode::kIo, std::strerror(errno));
}

std::unique_ptr<HttpClients> http_clients(const std::function<std::string()>& ask) {
  // Found as the libraries are that npusim is linked to. It stays until npusim ends.
  static void* const kLibrary = dlopen(NPU_HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void* const make = kLibrary == nullptr ? nullptr : dlsym(kLibrary, "npu_http_clients");
  std::unique_ptr<HttpClients> clients;
  if (make != nullptr) reinterpret_cast<decltype(npu_http_clients)*>(make)(ask, clients);
  return clients;
}

}  // namespace

MetricsServer::MetricsServer() = default;

Status MetricsServer::listen_on_path(const std::string& path) {
  auto made = model::vfio_user::listen_at(path);
  if (!made) return forward_error(made);
  listener_ = std::move(made->fd);
  inode_ = made->inode;
  place_ = path_ = path;
  return {};
}

Status MetricsServer::listen_on_port(const std::string& host, const std::string& port) {
  const auto number = read_number<std::uint16_t>(port);
  if (!number || (host != "127.0.0.1" && host != "localhost")) {
    return fail(ErrorCode::kInvalidArgument,
                "expected a path with a slash, or 127.0.0.1:PORT or localhost:PORT");
  }
  listener_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener_) return system_error();
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(*number);
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
  server->stop_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  server->wake_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!server->stop_ || !server->wake_) return system_error();
  server->http_ = http_clients([raw = server.get()] { return raw->ask(); });
  if (!server->http_) return fail(ErrorCode::kNotFound, NPU_HTTP_LIBRARY " cannot be loaded");
  // Signals are for whoever runs the simulation.
  sigset_t all{}, before{};
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  for (unsigned i = 0; i < kClients; ++i) {
    server->threads_.emplace_back([raw = server.get()] { raw->run(); });
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return server;
}

MetricsServer::~MetricsServer() {
  if (!threads_.empty()) {
    {
      const std::lock_guard<std::mutex> held(mutex_);
      ending_ = true;
    }
    answered_.notify_all();
    ::eventfd_write(stop_.get(), 1);
    for (auto& thread : threads_) thread.join();
  }
  if (!path_.empty()) model::vfio_user::remove_socket(path_, inode_);
}

void MetricsServer::run() {
  for (;;) {
    pollfd files[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(files, 2, -1) < 0 && errno != EINTR) return;
    if (files[1].revents != 0) return;
    if (files[0].revents == 0) continue;
    FileDescriptor client(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) continue;  // another thread has it
    http_->serve(std::move(client), stop_.get());
  }
}

// Empty: there is no one to answer any more.
std::string MetricsServer::ask() {
  std::unique_lock<std::mutex> held(mutex_);
  const auto mine = ++asked_;
  wanted_.store(true);
  if (auto* const told = told_.load()) told->store(true);
  ::eventfd_write(wake_.get(), 1);
  answered_.wait(held, [&] { return text_is_of_ >= mine || ending_; });
  return text_is_of_ >= mine ? text_ : std::string();
}

void MetricsServer::answer(const std::function<std::string()>& make) {
  if (!wanted_.load()) return;
  std::uint64_t up_to = 0;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    up_to = asked_;
  }
  auto text = make();
  {
    const std::lock_guard<std::mutex> held(mutex_);
    text_ = std::move(text);
    text_is_of_ = up_to;
    if (asked_ == up_to) {
      eventfd_t count = 0;
      ::eventfd_read(wake_.get(), &count);
      wanted_.store(false);
    }
  }
  answered_.notify_all();
}

}  // namespace npu::cli
