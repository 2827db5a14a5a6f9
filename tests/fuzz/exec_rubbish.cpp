// SPDX-License-Identifier: Apache-2.0
// exec_rubbish ROUNDS SEED [scribble | clean]: a program under `npusim exec` that keeps to the
// protocol by chance only. Whatever comes of it, npusim goes on and serves others well. With
// `scribble` its calls are those of `clean`, and between them, and while it waits, it writes
// rubbish into its shared memory, which must make no difference to anybody.
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/fuzz/exec_slot.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

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

std::uint64_t word(Random& random, const std::vector<std::uint64_t>& seen) {
  if (!seen.empty() && random.percent(60)) return seen[random.below(seen.size())];
  if (random.percent(50)) return random.below(8);
  return random.percent(50) ? random.bits() : UINT64_MAX - random.below(4096);
}

// A call with words that are mostly wrong; what it gave is used again. Some last for ever, or sleep
// that long.
void call(Slot& slot, Random& random, std::vector<std::uint64_t>& seen) {
  auto number = random.below(static_cast<std::uint64_t>(Call::kCount) + 3);
  const auto is = [&number](Call other) { return number == static_cast<std::uint64_t>(other); };
  if (is(Call::kEnd) || is(Call::kSleep)) number = static_cast<std::uint64_t>(Call::kInit);
  slot.call = static_cast<std::uint32_t>(number);
  slot.bytes = static_cast<std::uint32_t>(random.percent(50)   ? random.below(4096)
                                          : random.percent(80) ? random.below(compat::kWindow + 1)
                                                               : random.bits());
  slot.single_threaded = static_cast<std::uint32_t>(random.below(2));
  for (auto& each : slot.words) each = word(random, seen);
  slot.device = random.percent(50) ? compat::kDeviceOfContext : word(random, seen);
  if (random.percent(20)) {
    window_of(slot)[random.below(64)] = static_cast<std::byte>(random.bits());
  } else if (random.percent(20)) {
    std::memcpy(window_of(slot), "spin", 4);
  }
  const auto answered = slot.answered.load();
  post(slot, 1 + static_cast<std::uint32_t>(random.below(3)));
  while (slot.answered.load() == answered) {
    if (random.percent(20)) slot.words[random.below(compat::kWords)] = random.bits();
    if (random.percent(20)) slot.call = static_cast<std::uint32_t>(random.bits());
  }
  if (slot.status != 0) return;
  for (const auto each : slot.words) {
    if (each != 0) (seen.size() < 64 ? seen.emplace_back() : random.in(seen)) = each;
  }
}

// What a call does not need while nobody looks at it.
void scribble_over_all(Slot& slot, Random& random) {
  slot.call = static_cast<std::uint32_t>(random.bits());
  slot.bytes = static_cast<std::uint32_t>(random.bits());
  slot.status = static_cast<std::int32_t>(random.bits());
  for (auto& each : slot.words) each = random.bits();
  slot.device = random.bits();
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
  window_of(slot)[random.below(compat::kWindow)] = static_cast<std::byte>(random.bits());
}

// Memory comes and goes, always the same.
template <Call kCall>
void call_well(Slot& slot, const compat::Request<kCall>& request, Random& random, bool scribbles) {
  if (scribbles) scribble_over_all(slot, random);
  put<kCall>(slot, request);
  const auto answered = slot.answered.load();
  post(slot);
  while (slot.answered.load() == answered) {
    if (scribbles) scribble_meanwhile(slot, random);
  }
}

int behave_well(std::uint64_t rounds, Random& random, bool scribbles) {
  auto& slot = *connect();
  ask<Call::kSetDevice>(slot, {0});
  for (std::uint64_t i = 0; i < rounds; i += 2) {
    call_well<Call::kMalloc>(slot, {4096 * (1 + i)}, random, scribbles);
    call_well<Call::kFree>(slot, answer_of<Call::kMalloc>(slot), random, scribbles);
  }
  return 0;
}

int behave_badly(std::uint64_t rounds, Random& random) {
  auto& slot = *connect();
  std::vector<std::uint64_t> seen;
  ask<Call::kSetDevice>(slot, {0});
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
