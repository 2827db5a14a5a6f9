/* SPDX-License-Identifier: Apache-2.0
 * Nothing stays of what was made and given back again and again: binaries, contexts, devices that
 * contexts set, events, streams, memory of each kind. */
#include <string.h>

#include "spin.h"

enum { kRounds = 40 };

static void load_and_unload(aclrtStream stream) {
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle function = NULL;
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &function));
  spin(function, stream, 1);
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtBinaryUnLoad(binary));
  /* Unloaded under work: its code goes when that has ended. */
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &function));
  spin(function, stream, 100);
  OK(aclrtBinaryUnLoad(binary));
  OK(aclrtSynchronizeStream(stream));
  npusim_spin_args clocks = {1};
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE,
         aclrtLaunchKernel(function, 1, &clocks, sizeof clocks, stream));
}

static void make_and_destroy(void) {
  aclrtContext primary = NULL, context = NULL;
  OK(aclrtGetCurrentContext(&primary));
  OK(aclrtCreateContext(&context, 0));
  aclrtStream stream = new_stream();
  aclrtEvent event = new_event();
  void* memory = device_memory(1 << 20);
  void* managed = managed_memory(1 << 20);
  void* pinned = pinned_memory(4096);
  /* Pinned memory may be set, at once and in a stream's turn. */
  OK(aclrtMemset(pinned, 4096, 7, 4096));
  REQUIRE(((char*)pinned)[4095] == 7);
  OK(aclrtMemsetAsync(managed, 4096, 9, 4096, stream));
  OK(aclrtMemcpyAsync(memory, 4096, managed, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  OK(aclrtMemcpyAsync(pinned, 4096, memory, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtSynchronizeEvent(event));
  REQUIRE(((char*)pinned)[4095] == 9);
  OK(aclrtFreeHost(pinned));
  OK(aclrtFree(managed));
  OK(aclrtFree(memory));
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(stream));
  OK(aclrtDestroyContext(context));
  OK(aclrtSetCurrentContext(primary));
}

int main(void) {
  size_t before = 0;
  open_device();
  aclrtStream stream = new_stream();
  load_and_unload(stream);
  make_and_destroy();
  before = free_memory();
  for (int i = 0; i < kRounds; ++i) {
    load_and_unload(stream);
    make_and_destroy();
  }
  REQUIRE(free_memory() == before);
  OK(aclrtDestroyStream(stream));
  /* A device counts its users: two set it, two reset it. */
  OK(aclrtSetDevice(0));
  OK(aclrtResetDevice(0));
  (void)free_memory();
  OK(aclrtResetDevice(0));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(0));
  return end_right();
}
