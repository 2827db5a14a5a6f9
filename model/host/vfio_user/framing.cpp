// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/framing.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace npu::model::vfio_user {
namespace {

constexpr std::size_t kKernelMaxFds = 253;  // SCM_MAX_FD: more never come with one piece

// Takes over the descriptors of one received piece.
void collect_fds(msghdr& piece, Message& message) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&piece); item != nullptr; item = CMSG_NXTHDR(&piece, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int raw = -1;
      std::memcpy(&raw, CMSG_DATA(item) + i * sizeof raw, sizeof raw);
      FileDescriptor fd(raw);
      if (message.fds.size() < kMaxMessageFds) {
        message.fds.push_back(std::move(fd));
      } else {
        message.fds_error = E2BIG;
      }
    }
  }
  if ((piece.msg_flags & MSG_CTRUNC) != 0) message.fds_error = EMFILE;
}

}  // namespace

void MessageReader::begin_message() {
  message_.payload.clear();
  message_.fds.clear();
  message_.fds_error = 0;
  filled_ = 0;
  complete_ = false;
}

MessageReader::Result MessageReader::receive(int socket, std::byte* to, std::size_t size) {
  alignas(cmsghdr) std::byte control[CMSG_SPACE(kKernelMaxFds * sizeof(int))];
  iovec span{to, size};
  msghdr piece{};
  piece.msg_iov = &span;
  piece.msg_iovlen = 1;
  piece.msg_control = control;
  piece.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &piece, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) {
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return later ? Result::kAgain : Result::kClosed;
  }
  collect_fds(piece, message_);
  if (got == 0) return Result::kClosed;
  filled_ += static_cast<std::size_t>(got);
  return Result::kMessage;
}

MessageReader::Result MessageReader::read(int socket) {
  if (complete_) begin_message();
  auto* header = reinterpret_cast<std::byte*>(&message_.header);
  while (!has_header()) {
    const Result result = receive(socket, header + filled_, sizeof(Header) - filled_);
    if (result != Result::kMessage) return result;
  }
  const std::size_t size = message_.header.size;
  if (size < sizeof(Header) || size > kMaxMessageSize) {
    complete_ = true;
    return Result::kBadHeader;
  }
  message_.payload.resize(size - sizeof(Header));
  while (filled_ < size) {
    std::byte* to = message_.payload.data() + (filled_ - sizeof(Header));
    const Result result = receive(socket, to, size - filled_);
    if (result != Result::kMessage) return result;
  }
  complete_ = true;
  return Result::kMessage;
}

void Outbox::begin() {
  bytes_.assign(sizeof(Header), std::byte{0});
  sent_ = 0;
}

std::byte* Outbox::extend(std::size_t size) {
  bytes_.resize(bytes_.size() + size);
  return bytes_.data() + bytes_.size() - size;
}

void Outbox::append(const void* data, std::size_t size) {
  std::memcpy(extend(size), data, size);
}

void Outbox::finish(const Header& request, int error) {
  if (error != 0) bytes_.resize(sizeof(Header));
  const Header header{request.id, request.command, static_cast<std::uint32_t>(bytes_.size()),
                      error != 0 ? kTypeReply | kErrorReply : kTypeReply,
                      static_cast<std::uint32_t>(error)};
  std::memcpy(bytes_.data(), &header, sizeof header);
}

void Outbox::discard() {
  bytes_.clear();
  sent_ = 0;
}

void Outbox::flush(int socket) {
  while (pending()) {
    const ssize_t sent =
        ::send(socket, bytes_.data() + sent_, bytes_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) discard();
      return;
    }
    sent_ += static_cast<std::size_t>(sent);
  }
}

}  // namespace npu::model::vfio_user
