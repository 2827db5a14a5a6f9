// SPDX-License-Identifier: Apache-2.0
// Threads with one stream, for both kinds of cores; and a device that is given back while others
// use it.
#include <acl/npusim_kernels.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int kThreads = 4;

struct Program {
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  aclrtFuncHandle spin = nullptr;
};

// On cube cores or vector cores, in turns.
void launch(const Program& program, bool on_cube, std::uint64_t clocks) {
  aclrtLaunchKernelAttr attribute = {};
  attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE;
  attribute.value.engineType = on_cube ? ACL_RT_ENGINE_TYPE_AIC : ACL_RT_ENGINE_TYPE_AIV;
  aclrtLaunchKernelCfg config = {&attribute, 1};
  npusim_spin_args args = {clocks};
  OK(aclrtLaunchKernelWithHostArgs(program.spin, 2, program.stream, &config, &args, sizeof args,
                                   nullptr, 0));
}

void share(const Program& program, int number) {
  OK(aclrtSetCurrentContext(program.context));
  for (int i = 0; i < 10; ++i) {
    launch(program, (i + number) % 2 == 0, 1000);
    if (i % 3 == 0) OK(aclrtSynchronizeStream(program.stream));
  }
  OK(aclrtSynchronizeStream(program.stream));
}

// Whatever it is told, it comes back.
void use(const Program& program, int number, std::atomic<int>& begun) {
  OK(aclrtSetCurrentContext(program.context));
  launch(program, false, 20000000);
  ++begun;
  aclError got = ACL_SUCCESS;
  if (number % 3 == 0) got = aclrtSynchronizeStream(program.stream);
  if (number % 3 == 1) got = aclrtProcessReport(-1);
  if (number % 3 == 2) got = aclrtSynchronizeDevice();
  REQUIRE(got != ACL_SUCCESS);
  void* memory = nullptr;
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST));
}

template <class Work>
void with_threads(Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([=] { work(i); });
  for (auto& thread : threads) thread.join();
}

}  // namespace

int main() {
  Program program;
  aclrtBinHandle binary = nullptr;
  open_device();
  OK(aclrtGetCurrentContext(&program.context));
  OK(aclrtCreateStream(&program.stream));
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, nullptr, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &program.spin));
  with_threads([&program](int number) { share(program, number); });
  std::atomic<int> begun{0};
  std::thread ends([&] {
    while (begun < kThreads) OK(aclrtSetCurrentContext(program.context));
    OK(aclrtResetDeviceForce(0));
  });
  with_threads([&program, &begun](int number) { use(program, number, begun); });
  ends.join();
  OK(aclrtSetDevice(0));
  end_right();
}
