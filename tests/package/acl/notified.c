/* SPDX-License-Identifier: Apache-2.0 */
/* notified DEVICE: a notify that a child on the device has by its key: the parent's stream waits for
   what the child has written. The child of another card records it, and may not wait for it. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kRounds = 3 };
struct Keys {
  char notify[65], memory[65];
};

static void send(int pipe, const void* data, size_t size) {
  REQUIRE(write(pipe, data, size) == (ssize_t)size);
}
static void take(int pipe, void* data, size_t size) {
  REQUIRE(read(pipe, data, size) == (ssize_t)size);
}

static int child(int from, int to, int32_t device) {
  struct Keys keys;
  int go = 0;
  int32_t pid = getpid();
  aclrtNotify notify = NULL;
  void* memory = NULL;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(device));
  aclrtStream stream = new_stream();
  take(from, &keys, sizeof keys);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtNotifyImportByKey(&notify, keys.notify, 1));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyImportByKey(&notify, keys.memory, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&memory, keys.notify, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyImportByKey(&notify, keys.notify, 0));
  send(to, &pid, sizeof pid);
  take(from, &go, sizeof go); /* it is let in */
  OK(aclrtNotifyImportByKey(&notify, keys.notify, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
  OK(aclrtIpcMemImportByKey(&memory, keys.memory, 0));
  char key[65];
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyGetExportKey(notify, key, sizeof key, 0));
  if (device != 0) {
    EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtWaitAndResetNotify(notify, stream, 0));
  }
  for (int round = 0; round < kRounds; ++round) {
    int value = 123 + round;
    OK(aclrtMemcpy(memory, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
    sleep(1);
    OK(aclrtRecordNotify(notify, stream));
    OK(aclrtSynchronizeStream(stream));
    take(from, &go, sizeof go);
  }
  OK(aclrtDestroyNotify(notify));
  OK(aclrtIpcMemClose(keys.memory));
  OK(aclFinalize());
  return 0;
}

int main(int count, char** words) {
  int down[2], up[2], status = 0, value = 0;
  int32_t pid = 0;
  struct Keys keys;
  REQUIRE(count == 2 && pipe(down) == 0 && pipe(up) == 0);
  const pid_t started = fork();
  if (started == 0) return child(down[0], up[1], atoi(words[1]));
  open_device();
  aclrtStream stream = new_stream();
  aclrtNotify notify = NULL, used = NULL;
  int *memory = device_memory(64), *copy = device_memory(64);
  OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  OK(aclrtCreateNotify(&used, ACL_NOTIFY_DEFAULT));
  OK(aclrtRecordNotify(used, stream));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtNotifyGetExportKey(used, keys.notify, sizeof keys.notify, 0));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtNotifyGetExportKey(notify, keys.notify, 64, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifySetImportPid(notify, &pid, 1));
  OK(aclrtNotifyGetExportKey(notify, keys.notify, sizeof keys.notify, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtNotifyGetExportKey(notify, keys.notify, sizeof keys.notify, 0));
  OK(aclrtIpcMemGetExportKey(memory, 64, keys.memory, sizeof keys.memory,
                             ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  send(down[1], &keys, sizeof keys);
  take(up[0], &pid, sizeof pid);
  OK(aclrtNotifySetImportPid(notify, &pid, 1));
  send(down[1], &value, sizeof value);
  for (int round = 0; round < kRounds; ++round) {
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    OK(aclrtMemcpyAsync(copy, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(&value, sizeof value, copy, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(value == 123 + round);
    send(down[1], &value, sizeof value);
  }
  REQUIRE(waitpid(started, &status, 0) == started && status == 0);
  OK(aclrtRecordNotify(notify, stream)); /* it is the parent's alone now */
  OK(aclrtNotifyBatchReset(&notify, 1));
  OK(aclrtDestroyNotify(notify));
  OK(aclrtDestroyNotify(used));
  return end_right();
}
