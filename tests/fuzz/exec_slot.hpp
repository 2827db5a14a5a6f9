// SPDX-License-Identifier: Apache-2.0
// A program's end of the protocol of `npusim exec`, without the client library: what a program may
// do to it that the library does not.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "apps/compat/protocol/calls.hpp"
#include "apps/compat/protocol/futex.hpp"
#include "apps/compat/protocol/socket_name.hpp"
#include "apps/compat/protocol/wire.hpp"

namespace npu::fuzz {

using compat::Call;
using compat::Slot;

inline int open_socket() {
  const char* const path = std::getenv(compat::kSocketVariable);
  sockaddr_un address{};
  if (path == nullptr || !compat::set_name(address, path)) std::exit(1);
  const int file = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::exit(1);
  }
  return file;
}

// The calling thread's.
inline Slot* connect() {
  const int file = open_socket();
  compat::Hello hello;
  hello.thread = static_cast<std::int32_t>(::syscall(SYS_gettid));
  ::send(file, &hello, sizeof hello, MSG_NOSIGNAL);
  compat::Welcome welcome;
  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(file, &message, 0) != sizeof welcome || CMSG_FIRSTHDR(&message) == nullptr) {
    std::exit(1);
  }
  int memory = -1;
  std::memcpy(&memory, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof memory);
  static_cast<void>(::ftruncate(memory, 0) == 0);  // npusim must not fall over it
  void* const mapped =
      ::mmap(nullptr, compat::kChannelBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (mapped == MAP_FAILED) std::exit(1);
  return static_cast<Slot*>(mapped);
}

inline std::byte* window_of(Slot& slot) {
  return reinterpret_cast<std::byte*>(&slot) + compat::kWindowOffset;
}

inline void post(Slot& slot, std::uint32_t times = 1) {
  slot.posted.fetch_add(times);
  compat::futex_wake(slot.posted);
}

// A call in good form, still to be posted.
template <Call kCall>
void put(Slot& slot, const compat::Request<kCall>& request, std::uint64_t bytes = 0) {
  slot.call = static_cast<std::uint32_t>(kCall);
  slot.bytes = static_cast<std::uint32_t>(bytes);
  slot.single_threaded = 1;
  slot.words = compat::words_of(request);
  slot.device = compat::kDeviceOfContext;
}

// Posts what is there and waits; the status.
inline int answered(Slot& slot) {
  const auto before = slot.answered.load();
  post(slot);
  while (slot.answered.load() == before) {
  }
  return slot.status;
}

template <Call kCall>
int ask(Slot& slot, const compat::Request<kCall>& request, std::uint64_t bytes = 0) {
  put<kCall>(slot, request, bytes);
  return answered(slot);
}

template <Call kCall>
compat::Answer<kCall> answer_of(const Slot& slot) {
  return compat::message_of<compat::Answer<kCall>>(slot.words);
}

}  // namespace npu::fuzz
