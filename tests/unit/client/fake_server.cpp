// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/client/fake_server.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "apps/compat/protocol/futex.hpp"
#include "apps/compat/protocol/socket_name.hpp"

namespace npu::test {
namespace {

using compat::Call;

constexpr int kLookMilliseconds = 10;
constexpr long kLookNanoseconds = 10'000'000;

std::string new_name() {
  static std::atomic<unsigned> number{0};
  return "@npusim-test-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
}

int listen_on(const std::string& name) {
  sockaddr_un address{};
  compat::set_name(address, name.c_str());
  const int file = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(file, 128) != 0) {
    std::abort();
  }
  return file;
}

void send_with_file(int socket, const void* data, std::size_t size, int file) {
  iovec part{const_cast<void*>(data), size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  static_cast<void>(::sendmsg(socket, &message, MSG_NOSIGNAL));
}

int memory_of(std::size_t size) {
  const int file = ::memfd_create("fake", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)) != 0) std::abort();
  return file;
}

}  // namespace

FakeServer::FakeServer() : name_(new_name()), listener_(listen_on(name_)) {
  ::setenv(compat::kSocketVariable, name_.c_str(), 1);
  acceptor_ = std::thread([this] { accept_all(); });
}

FakeServer::~FakeServer() {
  stopping_ = true;
  acceptor_.join();
  ::close(listener_);
}

void FakeServer::accept_all() {
  while (!stopping_) {
    pollfd asked{listener_, POLLIN, 0};
    if (::poll(&asked, 1, kLookMilliseconds) <= 0) continue;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    ++connections_;
    servers_.emplace_back([this, socket] { serve(socket); });
  }
  for (auto& server : servers_) server.join();
}

void FakeServer::serve(int socket) {
  compat::Hello hello;
  static_cast<void>(::recv(socket, &hello, sizeof hello, 0));
  const int file = memory_of(compat::kChannelBytes);
  void* const memory =
      ::mmap(nullptr, compat::kChannelBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const compat::Welcome welcome;
  send_with_file(socket, &welcome, sizeof welcome, file);
  ::close(file);
  auto& slot = *static_cast<compat::Slot*>(memory);
  while (!stopping_) {
    const auto done = slot.answered.load();
    const auto posted = slot.posted.load();
    if (posted == done) {
      slot.server_sleeps.store(1);
      compat::futex_wait(slot.posted, posted, kLookNanoseconds);
      slot.server_sleeps.store(0);
      continue;
    }
    if (static_cast<Call>(slot.call) == Call::kEnd) {
      ++ends_;
      break;
    }
    answer(socket, slot);
    slot.answered.store(posted);
    if (slot.program_sleeps.load() != 0) compat::futex_wake(slot.answered);
  }
  ::munmap(memory, compat::kChannelBytes);
  ::close(socket);
}

void FakeServer::answer(int socket, compat::Slot& slot) {
  for (auto most = most_children_.load();
       slot.has_children > most &&
       !most_children_.compare_exchange_weak(most, slot.has_children);) {
  }
  slot.status = 0;
  const auto call = static_cast<Call>(slot.call);
  if (call == Call::kMallocHost) {
    const auto size = compat::message_of<compat::wire::Size>(slot.words);
    const compat::Descriptor descriptor{size.bytes};
    const int file = memory_of(size.bytes);
    send_with_file(socket, &descriptor, sizeof descriptor, file);
    ::close(file);
    slot.words = compat::words_of(compat::wire::Handle{++memories_});
  } else if (call == Call::kMemExport) {
    const auto asked = compat::message_of<compat::wire::Handle>(slot.words);
    slot.words = compat::words_of(compat::wire::Number{answer_to(asked.handle)});
  }
}

}  // namespace npu::test
