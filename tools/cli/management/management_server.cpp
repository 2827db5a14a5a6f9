// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/management/management_server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "npu/abi/registers.hpp"

namespace npu::cli {
namespace {

using dsmi::Answer;
using dsmi::AnswerMessage;
using dsmi::Request;
using dsmi::RequestMessage;

constexpr AnswerMessage kRefusal{Answer::kRefused, 0, 0};

bool watch(int events, int file) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(events, EPOLL_CTL_ADD, file, &event) == 0;
}

}  // namespace

ManagementServer::ManagementServer(std::string path, model::System& system, ServedDevices& devices)
    : path_(std::move(path)), devices_(devices) {
  for (unsigned i = 0; i < system.cards(); ++i) {
    cards_.push_back(std::make_unique<ProbedCard>(system, i));
  }
}

Result<std::unique_ptr<ManagementServer>> ManagementServer::listen(const std::string& path,
                                                                   model::System& system,
                                                                   ServedDevices& devices) {
  auto made = model::vfio_user::listen_at(path);
  if (!made) return forward_error(made);
  std::unique_ptr<ManagementServer> server(new ManagementServer(path, system, devices));
  server->listener_ = std::move(made->fd);
  server->inode_ = made->inode;
  server->events_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!server->events_ || !watch(server->events_.get(), server->listener_.get())) {
    return fail(ErrorCode::kIo, std::strerror(errno));
  }
  return server;
}

ManagementServer::~ManagementServer() {
  model::vfio_user::remove_socket(path_, inode_);
}

void ManagementServer::accept() {
  for (;;) {
    FileDescriptor socket(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    if (clients_.size() >= kMostClients || !watch(events_.get(), socket.get())) continue;
    clients_.push_back({std::move(socket), {}, 0, {}});
  }
}

void ManagementServer::serve() {
  accept();
  clients_.remove_if([this](Client& client) { return !serve(client); });
}

bool ManagementServer::serve(Client& client) {
  for (;;) {
    auto* const rest = client.message.data() + client.filled;
    const auto came = ::recv(client.socket.get(), rest, client.message.size() - client.filled, 0);
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (came == 0) return false;
    client.filled += static_cast<std::size_t>(came);
    if (client.filled < client.message.size()) continue;
    client.filled = 0;
    RequestMessage request;
    std::memcpy(&request, client.message.data(), sizeof request);
    const AnswerMessage message = answer(request, client);
    const auto sent = ::send(client.socket.get(), &message, sizeof message, MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(sizeof message)) return false;
  }
}

// The pages in front of the MSI-X structures.
bool ManagementServer::is_readable(const RequestMessage& request, Bytes width) {
  return request.offset % width == 0 && request.offset <= abi::kMsixTableOffset - width;
}

// What a client may do to a card that is somebody else's: errors of the memory.
bool ManagementServer::is_writable(const RequestMessage& request, Bytes width) {
  return request.offset % width == 0 && request.offset >= abi::EccInjectAddress::kOffset &&
         request.offset + width <= abi::EccClear::kOffset + sizeof(abi::EccClear::raw_type);
}

AnswerMessage ManagementServer::answer(const RequestMessage& request, Client& client) {
  if (request.request == Request::kHello) {
    if (request.value != dsmi::kProtocolVersion) return kRefusal;
    return {Answer::kDone, 0, cards_.size()};
  }
  if (request.card >= cards_.size()) return kRefusal;
  if (request.request >= Request::kReadPartition) return answer_of_devices(request, client);
  return answer_of_card(request);
}

AnswerMessage ManagementServer::answer_of_devices(const RequestMessage& request, Client& client) {
  switch (request.request) {
    case Request::kReadPartition: {
      const auto value = devices_.field(request.card, request.offset, request.value);
      return value ? AnswerMessage{Answer::kDone, 0, *value} : kRefusal;
    }
    case Request::kTemplate: {
      char name[16];
      std::memcpy(name, &request.offset, 8);
      std::memcpy(name + 8, &request.value, 8);
      client.name.assign(name, strnlen(name, sizeof name));
      return {};
    }
    case Request::kCreate:
      return {Answer::kDone, 0, devices_.create(request.card, request.value, client.name)};
    case Request::kDestroy:
      return {Answer::kDone, 0, devices_.destroy(request.card, request.value)};
    default:
      return kRefusal;
  }
}

AnswerMessage ManagementServer::answer_of_card(const RequestMessage& request) {
  auto& card = *cards_[request.card];
  auto& registers = card.registers();
  switch (request.request) {
    case Request::kFunction:
      return {Answer::kDone, 0, card.bdf().packed()};
    case Request::kRead4:
      if (!is_readable(request, 4)) return kRefusal;
      return {Answer::kDone, 0, registers.read32(request.offset)};
    case Request::kRead8:
      if (!is_readable(request, 8)) return kRefusal;
      return {Answer::kDone, 0, registers.read64(request.offset)};
    case Request::kWrite4:
      if (!is_writable(request, 4)) return kRefusal;
      registers.write32(request.offset, static_cast<std::uint32_t>(request.value));
      return {};
    case Request::kWrite8:
      if (!is_writable(request, 8)) return kRefusal;
      registers.write64(request.offset, request.value);
      return {};
    case Request::kReadConfig:
      if (request.offset % 4 != 0 || request.offset >= abi::pci::kConfigSpaceSize) return kRefusal;
      return {Answer::kDone, 0, card.read_config(static_cast<std::uint32_t>(request.offset))};
    case Request::kReadMemory:
      if (request.offset % 8 != 0 || request.offset > card.memory().size() - 8) return kRefusal;
      return {Answer::kDone, 0, card.memory().read64(request.offset)};
    default:
      return kRefusal;
  }
}

}  // namespace npu::cli
