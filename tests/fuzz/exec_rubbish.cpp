// SPDX-License-Identifier: Apache-2.0
// exec_rubbish ROUNDS SEED: a program under `npusim exec` that keeps to the protocol by chance
// only. Whatever comes of it, npusim goes on and serves others well.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "compat/protocol/calls.hpp"
#include "compat/protocol/futex.hpp"
#include "compat/protocol/wire.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

using compat::Slot;

int open_socket() {
  const char* const path = std::getenv(compat::kSocketVariable);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr) std::exit(1);
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int file = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::exit(1);
  }
  return file;
}

// Sizes, beginnings and versions that are wrong, and sockets that are closed at once.
void knock(Random& random) {
  const int file = open_socket();
  std::vector<unsigned char> packet(random.below(64));
  for (auto& byte : packet) byte = static_cast<unsigned char>(random.bits());
  if (random.percent(50) && packet.size() >= sizeof compat::kMagic) {
    std::memcpy(packet.data(), &compat::kMagic, sizeof compat::kMagic);
  }
  if (!packet.empty()) ::send(file, packet.data(), packet.size(), MSG_NOSIGNAL);
  ::close(file);
}

Slot* connect() {
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

std::uint64_t word(Random& random, const std::vector<std::uint64_t>& seen) {
  if (!seen.empty() && random.percent(60)) return seen[random.below(seen.size())];
  if (random.percent(50)) return random.below(8);
  return random.percent(50) ? random.bits() : UINT64_MAX - random.below(4096);
}

// A call with words that are mostly wrong; what it gave is used again. Some last for ever, or sleep
// that long.
void call(Slot& slot, Random& random, std::vector<std::uint64_t>& seen) {
  auto number = random.below(static_cast<std::uint64_t>(compat::Call::kCount) + 3);
  const auto is = [&number](compat::Call other) {
    return number == static_cast<std::uint64_t>(other);
  };
  if (is(compat::Call::kEnd) || is(compat::Call::kSleep)) number = 2;
  slot.call = static_cast<std::uint32_t>(number);
  slot.bytes = static_cast<std::uint32_t>(random.percent(50) ? random.below(4096) : random.bits());
  slot.single_threaded = static_cast<std::uint32_t>(random.below(2));
  for (auto& each : slot.words) each = word(random, seen);
  const auto answered = slot.answered.load();
  slot.posted.fetch_add(1 + static_cast<std::uint32_t>(random.below(3)));
  compat::futex_wake(slot.posted);
  while (slot.answered.load() == answered) {
    if (random.percent(20)) slot.words[random.below(compat::kWords)] = random.bits();
    if (random.percent(20)) slot.call = static_cast<std::uint32_t>(random.bits());
  }
  if (slot.status == 0 && seen.size() < 64) seen.push_back(slot.words[0]);
}

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  npu::fuzz::Random random(std::strtoull(argv[2], nullptr, 10));
  auto& slot = *npu::fuzz::connect();
  std::vector<std::uint64_t> seen;
  slot.call = static_cast<std::uint32_t>(npu::compat::Call::kSetDevice);
  slot.words[0] = 0;
  slot.posted.store(1);
  npu::compat::futex_wake(slot.posted);
  while (slot.answered.load() == 0) {
  }
  for (auto left = std::strtoull(argv[1], nullptr, 10); left > 0; --left) {
    if (random.percent(5)) npu::fuzz::knock(random);
    npu::fuzz::call(slot, random, seen);
  }
  // In the middle of one more call.
  slot.call = static_cast<std::uint32_t>(random.bits());
  slot.posted.fetch_add(1);
  ::raise(SIGKILL);
}
