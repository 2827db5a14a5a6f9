// SPDX-License-Identifier: Apache-2.0
// exec_victim SEED END: a program under `npusim exec` that does what its seed says, with threads,
// and ends in the middle of it, at a call that its seed says, as END says: `return`, `kill`, `stop`
// (and goes on when it is told to), `abort`, `segfault`, `exit` (with other threads in calls),
// `child` (of fork(), which is killed, too) or `hang` (without a call).
#include <acl/acl.h>
#include <acl/npusim_kernels.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

constexpr std::size_t kMost = 8 << 20;

void check(int status) {
  if (status == ACL_SUCCESS || status == ACL_ERROR_RT_MEMORY_ALLOCATION) return;
  std::fprintf(stderr, "victim: %d: %s\n", status, aclGetRecentErrMsg());
  std::_Exit(3);
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
    switch (random_.below(6)) {
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
