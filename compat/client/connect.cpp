// SPDX-License-Identifier: Apache-2.0
#include "compat/client/connect.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "compat/client/channel.hpp"

namespace npu::compat {
namespace {

pthread_key_t thread_key;
pthread_once_t once = PTHREAD_ONCE_INIT;
thread_local Channel* own = nullptr;
thread_local bool tried = false;

void end_of_thread(void* channel) {
  auto* const ending = static_cast<Channel*>(channel);
  ending->end();
  own = nullptr;
  delete ending;
}

// What the child has mapped is its parent's: it is left alone.
void in_child() {
  own = nullptr;
  tried = false;
  pthread_setspecific(thread_key, nullptr);
}

void prepare() {
  pthread_key_create(&thread_key, end_of_thread);
  pthread_atfork(nullptr, nullptr, in_child);
}

int open_socket() {
  const char* const path = std::getenv(kSocketVariable);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path, std::strlen(path));
  const int file = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return file;
  }
  ::close(file);
  return -1;
}

Channel* connect() {
  const int file = open_socket();
  if (file < 0) return nullptr;
  Hello hello;
  hello.thread = static_cast<std::int32_t>(::syscall(SYS_gettid));
  Welcome welcome;
  int memory = -1;
  if (::send(file, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello) {
    memory = receive(file, &welcome, sizeof welcome);
  }
  if (memory < 0) {
    ::close(file);
    return nullptr;
  }
  void* const mapped =
      ::mmap(nullptr, kChannelBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  ::close(memory);
  auto* const channel = mapped == MAP_FAILED ? nullptr : new (std::nothrow) Channel(file, mapped);
  if (channel == nullptr) ::close(file);
  return channel;
}

}  // namespace

bool has_children() {
  const int before = errno;
  siginfo_t ended;
  const bool there = ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
  errno = before;
  return there;
}

int receive(int socket, void* data, std::size_t size) {
  iovec part{data, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(size)) return -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int file = -1;
  std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return file;
}

Channel* known_channel() {
  return own;
}

Channel* channel_of_this_thread() {
  if (own != nullptr || tried) return own;
  pthread_once(&once, prepare);
  tried = true;
  own = connect();
  if (own != nullptr) pthread_setspecific(thread_key, own);
  return own;
}

}  // namespace npu::compat
