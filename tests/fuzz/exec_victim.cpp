// SPDX-License-Identifier: Apache-2.0
// exec_victim SEED END: a program under `npusim exec` that does what its seed says, with threads,
// and ends in the middle of it, at a call that its seed says, as END says: `return`, `kill`, `stop`
// (and goes on when it is told to), `abort`, `segfault`, `exit` (with other threads in calls),
// `child` (of fork(), which is killed, too) or `hang` (without a call). With VICTIM_SIGNALS it has
// handlers for signals that a program may get at any time, and timers that send the next one that
// many microseconds after a handler ran: however slow the machine is, the program gets on.
#include <acl/acl.h>
#include <acl/npusim_kernels.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

constexpr std::size_t kMost = 8 << 20;

void check(int status, int line = __builtin_LINE()) {
  if (status == ACL_SUCCESS || status == ACL_ERROR_RT_MEMORY_ALLOCATION) return;
  std::fprintf(stderr, "victim: line %d: %d: %s\n", line, status, aclGetRecentErrMsg());
  std::_Exit(3);
}

itimerval next_signal{};

void count_signal(int number) {
  static volatile std::sig_atomic_t came = 0;
  came = came + 1;
  if (number == SIGALRM) ::setitimer(ITIMER_REAL, &next_signal, nullptr);
  if (number == SIGPROF) ::setitimer(ITIMER_PROF, &next_signal, nullptr);
}

// Handlers that restart nothing, some on a stack of their own.
void take_signals(const char* microseconds) {
  static char stack[64 << 10];
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  ::sigaltstack(&own, nullptr);
  for (const int number : {SIGUSR1, SIGURG, SIGCHLD, SIGPROF, SIGALRM}) {
    struct sigaction action {};
    action.sa_handler = count_signal;
    action.sa_flags = number == SIGURG ? SA_ONSTACK : 0;
    ::sigaction(number, &action, nullptr);
  }
  next_signal.it_value.tv_usec = std::atol(microseconds);
  count_signal(SIGALRM);
  count_signal(SIGPROF);
}

void end(const std::string& how) {
  if (how == "kill") ::raise(SIGKILL);
  if (how == "stop") ::raise(SIGSTOP);
  if (how == "abort") std::abort();
  if (how == "exit") std::_Exit(7);
  if (how == "segfault") {
    std::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  volatile bool forever = how == "hang";
  while (forever) {
  }
  if (how == "child") {
    const pid_t child = ::fork();
    if (child == 0) {
      check(aclInit(nullptr));
      check(aclrtSetDevice(0));
      void* memory = nullptr;
      check(aclrtMalloc(&memory, kMost, ACL_MEM_MALLOC_HUGE_FIRST));
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
  }
}

// A thread of it, with a stream of its own; `last`: the call after which it ends, by `how`.
class Worker {
 public:
  Worker(std::uint64_t seed, aclrtContext context, aclrtFuncHandle spin)
      : random_(seed), context_(context), spin_(spin) {}

  void run(unsigned calls, unsigned last, const std::string& how) {
    check(aclrtSetCurrentContext(context_));
    check(aclrtCreateStream(&stream_));
    for (unsigned i = 0; i < calls; ++i) {
      if (i == last) end(how);
      step();
    }
    check(aclrtSynchronizeStream(stream_));
    for (void* const each : memory_) check(aclrtFree(each));
    check(aclrtDestroyStream(stream_));
  }

 private:
  void step() {
    switch (random_.below(9)) {
      case 0:
        return allocate();
      case 1:
        return launch();
      case 2:
        return check(aclrtSynchronizeStream(stream_));
      case 3:
        return copy();
      case 4:
        return managed();
      case 5:
        return events();
      case 6:
        return pinned();
      case 7:
        ::usleep(static_cast<useconds_t>(random_.below(60)));
        return;
      default:
        return give_back();
    }
  }
  void allocate() {
    void* memory = nullptr;
    check(aclrtMalloc(&memory, 1 + random_.below(kMost), ACL_MEM_MALLOC_HUGE_FIRST));
    if (memory != nullptr) memory_.push_back(memory);
  }
  void launch() {
    const npusim_spin_args clocks = {1 + random_.below(200'000)};
    check(aclrtLaunchKernel(spin_, 1 + static_cast<std::uint32_t>(random_.below(8)), &clocks,
                            sizeof clocks, stream_));
  }
  void copy() {
    if (memory_.empty()) return;
    char bytes[4096] = {};
    void* const at = memory_[random_.below(memory_.size())];
    check(aclrtMemcpyAsync(at, 1, bytes, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    check(aclrtMemcpy(bytes, sizeof bytes, at, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  }
  void events() {
    aclrtEvent event = nullptr;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    check(aclrtCreateEvent(&event));
    check(aclrtRecordEvent(event, stream_));
    while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
      check(aclrtQueryEventStatus(event, &status));
    }
    check(aclrtSynchronizeEvent(event));
    check(aclrtDestroyEvent(event));
  }
  void pinned() {
    void* memory = nullptr;
    if (memory_.empty()) return;
    check(aclrtMallocHost(&memory, 4096));
    check(aclrtMemcpyAsync(memory_.back(), 1, memory, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    check(aclrtSynchronizeStream(stream_));
    check(aclrtFreeHost(memory));
  }
  void managed() {
    void* memory = nullptr;
    check(aclrtMemAllocManaged(&memory, 1 + random_.below(kMost), 1));
    if (memory == nullptr) return;
    check(aclrtMemsetAsync(memory, 1, 1, 1, stream_));
    memory_.push_back(memory);
  }
  void give_back() {
    if (memory_.empty()) return;
    check(aclrtSynchronizeStream(stream_));
    check(aclrtFree(memory_.back()));
    memory_.pop_back();
  }

  Random random_;
  aclrtContext context_;
  aclrtFuncHandle spin_;
  aclrtStream stream_ = nullptr;
  std::vector<void*> memory_;
};

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  using namespace npu::fuzz;
  if (argc != 3) return 2;
  if (const char* const period = std::getenv("VICTIM_SIGNALS")) take_signals(period);
  const auto seed = std::strtoull(argv[1], nullptr, 10);
  Random random(seed);
  aclrtContext context = nullptr;
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle spin = nullptr;
  check(aclInit(nullptr));
  check(aclrtSetDevice(0));
  check(aclrtGetCurrentContext(&context));
  check(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, nullptr, &binary));
  check(aclrtBinaryGetFunction(binary, "spin", &spin));
  constexpr unsigned kCalls = 40;
  const auto threads = 1 + random.below(4);
  const auto culprit = random.below(threads);
  const auto last = static_cast<unsigned>(random.below(kCalls));
  std::vector<std::thread> all;
  for (std::uint64_t i = 0; i < threads; ++i) {
    all.emplace_back([=] {
      Worker worker(seed * 16 + i, context, spin);
      worker.run(kCalls, i == culprit ? last : kCalls, argv[2]);
    });
  }
  for (auto& thread : all) thread.join();
  check(aclFinalize());
  std::puts("right");
}
