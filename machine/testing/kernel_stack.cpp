// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/kernel_stack.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace npu::testkit {
namespace {

// Elaboration and the models' handlers run on it; a main thread has 8 MiB as a rule. Only what is
// touched is used.
constexpr std::size_t kStackBytes = std::size_t{32} << 20;
constexpr std::size_t kGuardBytes = std::size_t{64} << 10;

KernelStack* starting = nullptr;  // makecontext() passes no pointers

}  // namespace

KernelStack::~KernelStack() {
  if (memory_ != nullptr) munmap(memory_, kStackBytes);
}

void KernelStack::entry() {
  starting->kernel_();
}

bool KernelStack::start(std::function<void()> kernel) {
  kernel_ = std::move(kernel);
  memory_ = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory_ == MAP_FAILED || mprotect(memory_, kGuardBytes, PROT_NONE) != 0) {
    std::perror("npusim: a stack for the simulation");
    std::abort();
  }
  starting = this;
  getcontext(&kernel_context_);
  kernel_context_.uc_stack.ss_sp = memory_;
  kernel_context_.uc_stack.ss_size = kStackBytes;
  kernel_context_.uc_link = &caller_;
  makecontext(&kernel_context_, &KernelStack::entry, 0);
  swapcontext(&caller_, &kernel_context_);
  return handed_over_;
}

void KernelStack::hand_over() {
  handed_over_ = true;
  swapcontext(&coroutine_, &caller_);
}

void KernelStack::finish() {
  swapcontext(&caller_, &coroutine_);
}

}  // namespace npu::testkit
