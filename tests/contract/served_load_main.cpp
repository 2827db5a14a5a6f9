// SPDX-License-Identifier: Apache-2.0
// npu_served_load SOCKET: drives the function behind a vfio-user socket of `npusim serve` until
// SIGTERM or SIGINT, and says what it has done. Exit status: 0 every byte was right, 1 not.
#include <signal.h>

#include <cstdio>

#include "tests/contract/served_load.hpp"

namespace {

// Signals stay blocked and are asked for: none is to come into the middle of a message.
void block_signals() {
  sigset_t both;
  sigemptyset(&both);
  for (const int number : {SIGTERM, SIGINT}) sigaddset(&both, number);
  pthread_sigmask(SIG_BLOCK, &both, nullptr);
}
bool stopped() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: npu_served_load SOCKET\n");
    return 2;
  }
  block_signals();
  auto client = npu::test::vfio_user::Client::connect(argv[1]);
  if (!client || !client->negotiate()) {
    std::fprintf(stderr, "npu_served_load: nobody serves on %s\n", argv[1]);
    return 1;
  }
  const auto load = npu::test::ServedLoad::open(std::move(*client));
  if (!load) {
    std::fprintf(stderr, "npu_served_load: %s\n", load.error().message().c_str());
    return 1;
  }
  std::uint32_t rounds = 0;
  for (; !stopped(); ++rounds) {
    if (const auto done = (*load)->round(rounds); !done) {
      std::fprintf(stderr, "npu_served_load: round %u: %s\n", rounds,
                   done.error().message().c_str());
      return 1;
    }
    if (rounds == 0) std::puts("at work");
    std::fflush(stdout);
  }
  std::printf("%u rounds, every byte right\n", rounds);
  return 0;
}
