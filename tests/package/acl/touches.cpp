// SPDX-License-Identifier: Apache-2.0
// Threads that touch managed memory at random while kernels of each use it: with all signals
// blocked, with SIGSEGV handlers of the program's own, and with addresses that are nobody's.

#include <csetjmp>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "spin.h"

namespace {

constexpr size_t kPage = size_t{2} << 20, kWords = kPage / sizeof(float);
constexpr unsigned kThreads = 4, kPages = 6;

aclrtFuncHandle add = nullptr;
sigjmp_buf back;
volatile sig_atomic_t faults = 0;

void on_fault(int, siginfo_t*, void*) {
  faults = faults + 1;
  siglongjmp(back, 1);
}

// Of each thread every kThreads-th part of 64 KiB, in all pages.
void work(float* memory, unsigned number) {
  sigset_t all;
  sigfillset(&all);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &all, nullptr) == 0);
  OK(aclrtSetDevice(0));
  aclrtStream stream = new_stream();
  std::mt19937 random(number);
  constexpr size_t kPart = 16384;
  const size_t parts = kPages * kWords / kPart / kThreads;
  std::vector<float> model(parts, 1);
  const auto part = [&](size_t i) { return memory + (i * kThreads + number) * kPart; };
  for (size_t i = 0; i < parts; ++i) part(i)[0] = part(i)[kPart - 1] = 1;
  for (int step = 0; step < 60; ++step) {
    const size_t i = random() % parts;
    if (step % 3 == 0) {
      const auto at = reinterpret_cast<uint64_t>(part(i));
      const npusim_elementwise_args twice = {at, at, at, kPart, ACL_FLOAT};
      OK(aclrtLaunchKernel(add, 1, &twice, sizeof twice, stream));
      OK(aclrtSynchronizeStream(stream));
      model[i] *= 2;
    }
    const size_t j = random() % parts;
    REQUIRE(part(j)[0] == model[j] && part(j)[kPart - 1] == model[j]);
  }
  OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  float* memory = nullptr;
  open_device();
  add = built_in("add");
  OK(aclrtMemAllocManaged(reinterpret_cast<void**>(&memory), kPages * kPage, 1));
  struct sigaction action {
  }, before{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  REQUIRE(sigaction(SIGSEGV, &action, nullptr) == 0);
  REQUIRE(sigaction(SIGSEGV, nullptr, &before) == 0 && before.sa_sigaction == on_fault);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, memory, i);
  for (auto& thread : threads) thread.join();
  volatile float* const wrong[] = {nullptr, memory + kPages * kWords};
  for (auto* const at : wrong) {
    if (sigsetjmp(back, 1) == 0) *at = 1;
  }
  REQUIRE(faults == 2);
  memory[0] = 3;
  REQUIRE(memory[0] == 3 && faults == 2);
  OK(aclrtFree(memory));
  if (sigsetjmp(back, 1) == 0) *static_cast<volatile float*>(memory) = 1;
  REQUIRE(faults == 3);
  end_right();
}
