/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, physical memory and an event that a child has by keys: only if it was let in. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kSize = 1 << 20, kPage = 2 << 20 };

struct Keys {
  char open[65], closed[65], part[65];
  uint64_t number;
  aclrtMemFabricHandle fabric;
  aclrtIpcEventHandle event;
};

static void send(int pipe, const void* data, size_t size) {
  REQUIRE(write(pipe, data, size) == (ssize_t)size);
}
static void take(int pipe, void* data, size_t size) {
  REQUIRE(read(pipe, data, size) == (ssize_t)size);
}

static int child(int from, int to) {
  struct Keys keys;
  int value = 0, go = 0;
  int32_t pid = 0;
  void* memory = NULL;
  aclrtDrvMemHandle handle = NULL;
  aclrtEvent event = NULL;
  open_device();
  aclrtStream stream = new_stream();
  take(from, &keys, sizeof keys);
  OK(aclrtIpcMemImportByKey(&memory, keys.open, 0));
  OK(aclrtMemcpy(&value, sizeof value, memory, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(value == 123);
  OK(aclrtIpcMemClose(keys.open));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(keys.open));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&memory, keys.closed, 0));
  /* A part of a page, twice: only its bytes are reached. */
  void* twice = NULL;
  OK(aclrtIpcMemImportByKey(&memory, keys.part, 0));
  OK(aclrtIpcMemImportByKey(&twice, keys.part, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
  OK(aclrtMemcpy(&value, sizeof value, memory, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(value == 789);
  ++value;
  OK(aclrtMemcpy(twice, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset((char*)memory + 60, 8, 0, 8));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory));
  OK(aclrtIpcMemClose(keys.part));
  OK(aclrtIpcMemClose(keys.part));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(keys.part));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(keys.number, 0, &handle));
  OK(aclrtDeviceGetBareTgid(&pid));
  REQUIRE(pid == getpid());
  send(to, &pid, sizeof pid);
  take(from, &go, sizeof go); /* it is let in */
  OK(aclrtIpcMemImportByKey(&memory, keys.closed, 0));
  value = 456;
  OK(aclrtMemcpy(memory, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemImportFromShareableHandleV2(&keys.fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0,
                                         &handle));
  OK(aclrtFreePhysical(handle));
  OK(aclrtIpcOpenEventHandle(keys.event, &event));
  OK(aclrtStreamWaitEvent(stream, event));
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtSynchronizeEvent(event));
  send(to, &go, sizeof go);
  OK(aclrtDestroyEvent(event)); /* its record stays the parent's */
  OK(aclrtIpcMemClose(keys.closed));
  OK(aclFinalize());
  return 0;
}

static void* mapped(aclrtPhysicalMemProp* property) {
  void* address = NULL;
  aclrtDrvMemHandle handle = NULL;
  OK(aclrtReserveMemAddress(&address, kPage, 0, NULL, 0));
  OK(aclrtMallocPhysical(&handle, kPage, property, 0));
  OK(aclrtMapMem(address, kPage, 0, handle, 0));
  return address;
}

int main(void) {
  int down[2], up[2], status = 0, value = 123;
  int32_t pid = 0;
  struct Keys keys;
  REQUIRE(pipe(down) == 0 && pipe(up) == 0);
  const pid_t started = fork();
  if (started == 0) return child(down[0], up[1]);
  open_device();
  aclrtStream stream = new_stream();
  aclrtPhysicalMemProp property = {0};
  property.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  void *memory = mapped(&property), *other = mapped(&property), *plain = device_memory(64);
  OK(aclrtMemcpy(memory, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtIpcMemGetExportKey(memory, kSize, keys.open, 64, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtIpcMemGetExportKey((char*)memory + 64, 64, keys.open, sizeof keys.open, 0));
  value = 789;
  OK(aclrtMemcpy(plain, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtIpcMemGetExportKey(plain, 128, keys.part, sizeof keys.part, 0));
  OK(aclrtIpcMemGetExportKey(plain, 64, keys.part, sizeof keys.part,
                             ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  char again[65];
  void* beside = device_memory(64); /* in the same page */
  OK(aclrtIpcMemGetExportKey(beside, 64, again, sizeof again, 0));
  OK(aclrtIpcMemClose(again));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(again));
  OK(aclrtFree(beside));
  value = 123;
  OK(aclrtIpcMemGetExportKey(memory, kSize, keys.open, sizeof keys.open,
                             ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  OK(aclrtIpcMemGetExportKey(other, kSize, keys.closed, sizeof keys.closed, 0));
  aclrtDrvMemHandle handle = NULL;
  OK(aclrtMallocPhysical(&handle, kPage, &property, 0));
  OK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &keys.number));
  OK(aclrtMemExportToShareableHandleV2(handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &keys.fabric));
  REQUIRE(memcmp(&keys.fabric, &keys.number, sizeof keys.number) == 0);
  pid = getpid();
  OK(aclrtMemSetPidToShareableHandle(keys.number, &pid, 1));
  aclrtEvent event = NULL, own = new_event();
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcGetEventHandle(own, &keys.event));
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtIpcGetEventHandle(event, &keys.event));
  send(down[1], &keys, sizeof keys);
  take(up[0], &pid, sizeof pid);
  OK(aclrtIpcMemSetImportPid(keys.closed, &pid, 1));
  OK(aclrtMemSetPidToShareableHandleV2(&keys.fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &pid, 1));
  send(down[1], &value, sizeof value);
  take(up[0], &value, sizeof value);
  OK(aclrtSynchronizeEvent(event)); /* the child's record */
  OK(aclrtMemcpy(&value, sizeof value, other, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(value == 456);
  REQUIRE(waitpid(started, &status, 0) == started && status == 0);
  OK(aclrtSynchronizeEvent(event));
  OK(aclrtDestroyEvent(event));
  OK(aclrtMemcpy(&value, sizeof value, plain, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(value == 790);
  OK(aclrtIpcMemClose(keys.open));
  OK(aclrtIpcMemClose(keys.part));
  OK(aclrtFreePhysical(handle));
  OK(aclrtFree(plain));
  return end_right();
}
