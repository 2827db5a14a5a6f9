// SPDX-License-Identifier: Apache-2.0
// Device memory that is kept on the host and put back, while other threads' calls wait.
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr size_t kSmall = 100, kLarge = (5U << 20U) + 3;
std::string order;

uint32_t note(int32_t device, void* letter) {
  REQUIRE(device == 0);
  order += static_cast<const char*>(letter);
  return 0;
}
uint32_t refuse(int32_t, void*) {
  return 1;
}

void add(aclrtSnapShotStage stage, const char* letter) {
  OK(aclrtSnapShotCallbackRegister(stage, note, const_cast<char*>(letter)));
}

std::vector<unsigned char> bytes_of(const void* device, size_t size) {
  std::vector<unsigned char> bytes(size);
  OK(aclrtMemcpy(bytes.data(), size, device, size, ACL_MEMCPY_DEVICE_TO_HOST));
  return bytes;
}

}  // namespace

int main() {
  open_device();
  add(ACL_RT_SNAPSHOT_LOCK_PRE, "l");
  EXPECT(507913, aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, note, nullptr));
  EXPECT(507913, aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_UNLOCK_POST, note));
  add(ACL_RT_SNAPSHOT_BACKUP_PRE, "b");
  add(ACL_RT_SNAPSHOT_BACKUP_POST, "B");
  add(ACL_RT_SNAPSHOT_RESTORE_PRE, "r");
  add(ACL_RT_SNAPSHOT_RESTORE_POST, "R");
  add(ACL_RT_SNAPSHOT_UNLOCK_POST, "U");
  void *small = device_memory(kSmall), *large = device_memory(kLarge);
  aclrtStream stream = new_stream();
  OK(aclrtMemset(small, kSmall, 1, kSmall));
  OK(aclrtMemsetAsync(large, kLarge, 2, kLarge, stream));
  EXPECT(507908, aclrtSnapShotProcessBackup());
  EXPECT(507909, aclrtSnapShotProcessRestore());
  EXPECT(507907, aclrtSnapShotProcessUnlock());
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtSnapShotProcessLock(1, nullptr));
  OK(aclrtSnapShotProcessLock(getpid(), nullptr));
  EXPECT(507906, aclrtSnapShotProcessLock());
  EXPECT(507909, aclrtSnapShotProcessRestore());
  OK(aclrtSnapShotProcessBackup());

  std::atomic<bool> through{false};
  std::thread other([&through, small] {
    OK(aclrtSetDevice(0));
    OK(aclrtMemset(small, kSmall, 9, kSmall));
    through = true;
    OK(aclrtResetDevice(0));
  });
  sleep(1);
  REQUIRE(!through);
  OK(aclrtSnapShotProcessUnlock());
  other.join();
  REQUIRE(through && bytes_of(small, kSmall) == std::vector<unsigned char>(kSmall, 9));
  OK(aclrtMemset(large, kLarge, 8, kLarge));
  void* later = device_memory(kSmall);
  OK(aclrtMemset(later, kSmall, 7, kSmall));

  OK(aclrtSnapShotProcessLock());
  OK(aclrtSnapShotProcessRestore());
  OK(aclrtSnapShotProcessUnlock());
  REQUIRE(bytes_of(small, kSmall) == std::vector<unsigned char>(kSmall, 1));
  REQUIRE(bytes_of(large, kLarge) == std::vector<unsigned char>(kLarge, 2));
  REQUIRE(bytes_of(later, kSmall) == std::vector<unsigned char>(kSmall, 7));
  REQUIRE(order == "lrbBUlrRU");

  OK(aclrtFree(small));
  OK(aclrtSnapShotProcessLock());
  EXPECT(507909, aclrtSnapShotProcessRestore());
  OK(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_BACKUP_PRE, refuse, nullptr));
  EXPECT(507912, aclrtSnapShotProcessBackup());
  OK(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_BACKUP_PRE, refuse));
  OK(aclrtSnapShotProcessUnlock());
  return end_right();
}
