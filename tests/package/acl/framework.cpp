// SPDX-License-Identifier: Apache-2.0
// As a framework does it: the library is opened by its name, every function is looked for in it,
// and those that are missing are done without.
#include <acl/acl.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void* library = nullptr;

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}
#define FIND(name) find<decltype(name)>(#name)

void expect(int wanted, int got, const char* what) {
  if (got == wanted) return;
  std::fprintf(stderr, "%s: %d, expected %d\n", what, got, wanted);
  std::exit(1);
}
#define CALL(wanted, name, ...) expect(wanted, FIND(name)(__VA_ARGS__), #name)

void copy_there_and_back(aclrtStream stream) {
  char there[64] = "framework", back[64] = "";
  void* memory = nullptr;
  CALL(0, aclrtMallocAlign32, &memory, sizeof there, ACL_MEM_MALLOC_HUGE_FIRST);
  CALL(0, aclrtMemcpyAsync, memory, sizeof there, there, sizeof there, ACL_MEMCPY_HOST_TO_DEVICE,
       stream);
  CALL(0, aclrtMemcpyAsync, back, sizeof back, memory, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST,
       stream);
  CALL(0, aclrtSynchronizeStreamWithTimeout, stream, -1);
  CALL(0, aclrtFree, memory);
  expect(0, std::strcmp(there, back), "bytes");
}

}  // namespace

int main(int argc, char** argv) {
  int32_t device = -1;
  size_t free = 0, total = 0;
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  library = dlopen("libascendcl.so", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  expect(1, dlsym(library, "aclrtNobodyHasThis") == nullptr, "a missing name");
  CALL(0, aclInit, nullptr);
  CALL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice, &device);
  CALL(0, aclrtSetDevice, 0);
  CALL(0, aclrtGetCurrentContext, &context);
  expect(0, std::strncmp(FIND(aclrtGetSocName)(), "Ascend9", 7), "name of the chip");
  CALL(0, aclrtSetDeviceSatMode, ACL_RT_OVERFLOW_MODE_INFNAN);
  CALL(0, aclrtSetOpExecuteTimeOut, 547);
  CALL(0, aclrtCreateStreamWithConfig, &stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC);
  CALL(0, aclrtSetStreamFailureMode, stream, 1);
  CALL(0, aclrtSetStreamOverflowSwitch, stream, 1);
  CALL(0, aclrtGetMemInfo, ACL_HBM_MEM, &free, &total);
  // A layer may show less; the command line says what there should be.
  if (argc > 1) expect(1, total == std::strtoull(argv[1], nullptr, 10), "memory shown");
  copy_there_and_back(stream);
  CALL(0, aclrtCreateEventExWithFlag, &event, ACL_EVENT_SYNC);
  CALL(0, aclrtRecordEvent, event, stream);
  CALL(0, aclrtSynchronizeEvent, event);
  CALL(0, aclrtDestroyEvent, event);
  CALL(0, aclrtDestroyStreamForce, stream);
  CALL(0, aclrtResetDevice, 0);
  CALL(0, aclFinalize);
  std::puts("right");
}
