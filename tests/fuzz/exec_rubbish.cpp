// SPDX-License-Identifier: Apache-2.0
// exec_rubbish ROUNDS SEED [scribble | clean]: a program under `npusim exec` that keeps to the
// protocol by chance only. Whatever comes of it, npusim goes on and serves others well. With
// `scribble` its calls are those of `clean`, and between them, and while it waits, it writes
// rubbish into its shared memory, which must make no difference to anybody.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "apps/compat/protocol/calls.hpp"
#include "apps/compat/protocol/futex.hpp"
#include "apps/compat/protocol/socket_name.hpp"
#include "apps/compat/protocol/wire.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

using compat::Slot;

int open_socket() {
  const char* const path = std::getenv(compat::kSocketVariable);
  sockaddr_un address{};
  if (path == nullptr || !compat::set_name(address, path)) std::exit(1);
  const int file = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::exit(1);
  }
  return file;
}

// Sizes, beginnings and versions that are wrong, and sockets that are closed at once.
void knock(Random& random) {
  const int file = open_socket();
  std::vector<unsigned char> packet(random.below(random.percent(10) ? 100'000 : 64));
  for (auto& byte : packet) byte = static_cast<unsigned char>(random.bits());
  if (random.percent(50) && packet.size() >= sizeof compat::kMagic) {
    std::memcpy(packet.data(), &compat::kMagic, sizeof compat::kMagic);
  }
  if (!packet.empty()) ::send(file, packet.data(), packet.size(), MSG_NOSIGNAL);
  ::close(file);
}

// Many that say nothing, longer than there is room for; npusim looks at them when it can.
void crowd(Random& random) {
  std::vector<int> files;
  const char* const path = std::getenv(compat::kSocketVariable);
  sockaddr_un address{};
  if (!compat::set_name(address, path)) std::exit(1);
  for (auto left = random.below(300); left > 0; --left) {
    const int file = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) break;
    static_cast<void>(
        ::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    files.push_back(file);
  }
  for (const int file : files) ::close(file);
}

Slot* connect();

// A process that connects and is gone at some point.
void visit(Random& random) {
  const bool calls = random.percent(50);
  const pid_t child = ::fork();
  if (child == 0) {
    auto& slot = *connect();
    if (calls) slot.posted.store(1);
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
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

void post(Slot& slot) {
  slot.posted.fetch_add(1);
  compat::futex_wake(slot.posted);
}

void set_device(Slot& slot) {
  slot.call = static_cast<std::uint32_t>(compat::Call::kSetDevice);
  slot.words[0] = slot.words[compat::kDeviceWord] = 0;
  slot.posted.store(1);
  compat::futex_wake(slot.posted);
  while (slot.answered.load() == 0) {
  }
}

// What a call does not need while nobody looks at it.
void scribble_over_all(Slot& slot, Random& random) {
  slot.call = static_cast<std::uint32_t>(random.bits());
  slot.bytes = static_cast<std::uint32_t>(random.bits());
  slot.status = static_cast<std::int32_t>(random.bits());
  for (auto& each : slot.words) each = random.bits();
  auto* const bytes = reinterpret_cast<unsigned char*>(&slot);
  for (int i = 0; i < 100; ++i) {
    bytes[sizeof(Slot) + random.below(compat::kChannelBytes - sizeof(Slot))] =
        static_cast<unsigned char>(random.bits());
  }
}

// What only the program's side reads, and the window, which this call does not use.
void scribble_meanwhile(Slot& slot, Random& random) {
  slot.status = static_cast<std::int32_t>(random.bits());
  slot.program_sleeps.store(static_cast<std::uint32_t>(random.below(2)));
  auto* const window = reinterpret_cast<unsigned char*>(&slot) + compat::kWindowOffset;
  window[random.below(compat::kWindow)] = static_cast<unsigned char>(random.bits());
}

// Memory comes and goes, always the same.
void call_well(Slot& slot, std::uint64_t number, Random& random, bool scribbles) {
  static std::uint64_t memory = 0;
  if (scribbles) scribble_over_all(slot, random);
  slot.bytes = 0;
  slot.single_threaded = 1;
  for (auto& each : slot.words) each = 0;
  const bool allocates = number % 2 == 0;
  slot.call = static_cast<std::uint32_t>(allocates ? compat::Call::kMalloc : compat::Call::kFree);
  slot.words[0] = allocates ? 4096 * (1 + number) : memory;
  const auto answered = slot.answered.load();
  post(slot);
  while (slot.answered.load() == answered) {
    if (scribbles) scribble_meanwhile(slot, random);
  }
  memory = slot.words[0];
}

int behave_well(std::uint64_t rounds, Random& random, bool scribbles) {
  auto& slot = *connect();
  set_device(slot);
  for (std::uint64_t i = 0; i < rounds; ++i) call_well(slot, i, random, scribbles);
  return 0;
}

int behave_badly(std::uint64_t rounds, Random& random) {
  auto& slot = *connect();
  std::vector<std::uint64_t> seen;
  set_device(slot);
  for (; rounds > 0; --rounds) {
    if (random.percent(5)) knock(random);
    if (random.percent(1)) crowd(random);
    if (random.percent(1)) visit(random);
    call(slot, random, seen);
  }
  // In the middle of one more call.
  slot.call = static_cast<std::uint32_t>(random.bits());
  slot.posted.fetch_add(1);
  ::raise(SIGKILL);
  return 1;
}

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const auto rounds = std::strtoull(argv[1], nullptr, 10);
  npu::fuzz::Random random(std::strtoull(argv[2], nullptr, 10));
  if (argc == 3) return npu::fuzz::behave_badly(rounds, random);
  return npu::fuzz::behave_well(rounds, random, std::strcmp(argv[3], "scribble") == 0);
}
