// SPDX-License-Identifier: Apache-2.0
// The program's device memory, kept and put back.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "apps/compat/acl/direct.hpp"

using npu::compat::ask;
using npu::compat::Call;

namespace {

constexpr uint64_t kEnd = 0, kKeep = 1, kPutBack = 2;

struct SnapshotCall {
  aclrtSnapShotStage stage;
  aclrtSnapShotCallBack call;
  void* args;

  bool is(aclrtSnapShotStage at, aclrtSnapShotCallBack function) const {
    return stage == at && call == function;
  }
};
struct Snapshots {
  std::mutex lock;
  std::vector<SnapshotCall> all;
  std::atomic<bool> locked{false};
};
Snapshots& snapshots() {
  static auto* const kSnapshots = new Snapshots;
  return *kSnapshots;
}

// For each device that is set.
aclError tell(aclrtSnapShotStage stage) {
  uint32_t count = 0;
  const aclError status = aclrtGetDeviceCount(&count);
  if (status != ACL_SUCCESS) return status;
  std::unique_lock<std::mutex> held(snapshots().lock);
  const auto all = snapshots().all;
  held.unlock();
  for (const auto& each : all) {
    for (uint32_t device = 0; each.stage == stage && device < count; ++device) {
      int32_t active = 0;
      const aclError asked =
          aclrtGetPrimaryCtxState(static_cast<int32_t>(device), nullptr, &active);
      if (asked != ACL_SUCCESS || active == 0) continue;
      if (each.call(static_cast<int32_t>(device), each.args) != 0)
        return ACL_ERROR_SNAPSHOT_CALLBACK_FAILED;
    }
  }
  return ACL_SUCCESS;
}

bool is_own(int pid, const void* rest) {
  return (pid == 0 || pid == ::getpid()) && rest == nullptr;
}

// Between what is told before and behind it.
aclError work(aclrtSnapShotStage before, uint64_t what, aclrtSnapShotStage behind) {
  aclError status = tell(before);
  if (status == ACL_SUCCESS) status = ask<Call::kSnapshot>({what});
  return status == ACL_SUCCESS ? tell(behind) : status;
}

}  // namespace

extern "C" {

aclError aclrtSnapShotProcessLock(int pid, void* reserve) {
  if (!is_own(pid, reserve)) return ACL_ERROR_INVALID_PARAM;
  if (snapshots().locked) return ACL_ERROR_SNAPSHOT_LOCK_FAILED;
  const aclError told = tell(ACL_RT_SNAPSHOT_LOCK_PRE);
  if (told != ACL_SUCCESS) return told;
  if (!npu::compat::lock_process(true)) return ACL_ERROR_SNAPSHOT_LOCK_FAILED;
  snapshots().locked = true;
  return ask<Call::kSnapshot>({kEnd});
}

aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs* args) {
  if (!is_own(pid, args)) return ACL_ERROR_INVALID_PARAM;
  if (!snapshots().locked) return ACL_ERROR_SNAPSHOT_BACKUP_FAILED;
  return work(ACL_RT_SNAPSHOT_BACKUP_PRE, kKeep, ACL_RT_SNAPSHOT_BACKUP_POST);
}

aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs* args) {
  if (!is_own(pid, args)) return ACL_ERROR_INVALID_PARAM;
  if (!snapshots().locked) return ACL_ERROR_SNAPSHOT_RESTORE_FAILED;
  return work(ACL_RT_SNAPSHOT_RESTORE_PRE, kPutBack, ACL_RT_SNAPSHOT_RESTORE_POST);
}

aclError aclrtSnapShotProcessUnlock(int pid, void* reserve) {
  if (!is_own(pid, reserve)) return ACL_ERROR_INVALID_PARAM;
  if (!snapshots().locked || !npu::compat::lock_process(false))
    return ACL_ERROR_SNAPSHOT_UNLOCK_FAILED;
  snapshots().locked = false;
  return tell(ACL_RT_SNAPSHOT_UNLOCK_POST);
}

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack call,
                                       void* args) {
  if (call == nullptr || stage > ACL_RT_SNAPSHOT_UNLOCK_POST) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(snapshots().lock);
  auto& all = snapshots().all;
  for (const auto& each : all) {
    if (each.is(stage, call)) return ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED;
  }
  all.push_back({stage, call, args});
  return ACL_SUCCESS;
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack call) {
  const std::lock_guard<std::mutex> held(snapshots().lock);
  auto& all = snapshots().all;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SnapshotCall& each) { return each.is(stage, call); });
  if (found == all.end()) return ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED;
  all.erase(found);
  return ACL_SUCCESS;
}

}  // extern "C"
