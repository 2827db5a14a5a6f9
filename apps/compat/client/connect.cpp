// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/connect.hpp"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "apps/compat/client/channel.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/client/request.hpp"
#include "apps/compat/client/signals_held.hpp"
#include "apps/compat/protocol/socket_name.hpp"

namespace npu::compat {

int& last_error() {
  static thread_local int code = 0;
  return code;
}

const char*& refused_call() {
  static thread_local const char* name = nullptr;
  return name;
}

std::uint64_t& OnDevice::place() {
  static thread_local std::uint64_t word = kDeviceOfContext;
  return word;
}

namespace {

pthread_key_t thread_key;
pthread_once_t once = PTHREAD_ONCE_INIT;
thread_local Channel* own = nullptr;
thread_local bool refused = false;  // nobody will ever be there
std::atomic<bool> had_children{false};
std::atomic<bool> connected{false};  // this process
// A word that the kernel clears in a child, however the child came to be; null: it cannot. Not seen
// by another thread before it is set.
std::atomic<volatile unsigned*> process_word{nullptr};

// Again, as long as signals interrupt it.
template <class Call>
auto insist(Call call) {
  auto got = call();
  while (got < 0 && errno == EINTR) got = call();
  return got;
}

void end_of_thread(void* channel) {
  auto* const ending = static_cast<Channel*>(channel);
  ending->end();
  own = nullptr;
  delete ending;
}

// What the child has mapped is its parent's: it is left alone.
void in_child() {
  fork_in_child();
  if (own != nullptr) own->leave_to_parent();
  own = nullptr;
  refused = false;
  had_children = connected = false;
  pthread_setspecific(thread_key, nullptr);
  if (auto* const word = process_word.load(); word != nullptr) *word = 1;
}

void in_parent() {
  fork_in_parent();
  had_children = true;
}

void prepare() {
  pthread_key_create(&thread_key, end_of_thread);
  pthread_atfork(prepare_fork, in_parent, in_child);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const word =
      ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (word == MAP_FAILED) return;
  if (::madvise(word, page, MADV_WIPEONFORK) != 0) {
    ::munmap(word, page);
    return;
  }
  auto* const set = static_cast<volatile unsigned*>(word);
  *set = 1;
  process_word.store(set, std::memory_order_release);
}

// A child of _Fork() or clone(), which tell nobody.
void look_for_fork() {
  const auto* const word = process_word.load(std::memory_order_acquire);
  if (word != nullptr && *word == 0) in_child();
}

// What the kernel gives each image at random, and no more of it than tells images apart: the C
// library guards stacks with it.
std::uint64_t image_number() {
  constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t halves[2] = {};
  const auto at = ::getauxval(AT_RANDOM);
  if (at != 0) std::memcpy(halves, reinterpret_cast<const void*>(at), sizeof halves);
  const std::uint64_t mixed = (halves[0] ^ halves[1] << 32 ^ halves[1] >> 32) * kOdd;
  return mixed ^ mixed >> 32;
}

FileDescriptor open_socket() {
  const char* const name = std::getenv(kSocketVariable);
  sockaddr_un address{};
  refused = name == nullptr || !set_name(address, name);
  if (refused) return {};
  FileDescriptor file(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!file) return {};
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (insist([&] { return ::connect(file.get(), to, sizeof address); }) == 0) return file;
  refused = errno == ECONNREFUSED || errno == ENOENT;
  return {};
}

Channel* connect() {
  FileDescriptor file = open_socket();
  if (!file) return nullptr;
  Hello hello;
  hello.thread = static_cast<std::int32_t>(::syscall(SYS_gettid));
  hello.image = image_number();
  const char* const program = std::getenv(kProgramVariable);
  if (program != nullptr) hello.program = static_cast<std::uint32_t>(std::atol(program));
  Welcome welcome;
  FileDescriptor memory;
  if (insist([&] { return ::send(file.get(), &hello, sizeof hello, MSG_NOSIGNAL); }) ==
      sizeof hello) {
    memory = receive(file.get(), &welcome, sizeof welcome);
  }
  if (!memory) {
    refused = welcome.refused != 0;
    return nullptr;
  }
  void* const mapped =
      ::mmap(nullptr, kChannelBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return nullptr;
  return new (std::nothrow) Channel(std::move(file), mapped);
}

}  // namespace

unsigned children() {
  const int before = errno;
  siginfo_t ended;
  const bool there = ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
  errno = before;
  if (!there) return had_children ? 2 : 0;
  had_children = true;
  return 1;
}

FileDescriptor receive(int socket, void* data, std::size_t size) {
  iovec part{data, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const auto got = insist([&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
  if (got != static_cast<ssize_t>(size)) return {};
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
  int file = -1;
  std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return FileDescriptor(file);
}

Channel* channel_of_this_thread() {
  look_for_fork();
  if (own != nullptr || refused) return own;
  const SignalsHeld held;  // or a handler that calls as well connects the thread a second time
  if (own != nullptr) return own;
  pthread_once(&once, prepare);
  own = connect();
  if (own != nullptr) {
    pthread_setspecific(thread_key, own);
    connected = true;
  }
  return own;
}

Channel* channel_in_connected_process() {
  look_for_fork();
  return own != nullptr || connected ? channel_of_this_thread() : nullptr;
}

}  // namespace npu::compat
