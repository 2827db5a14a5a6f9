/* SPDX-License-Identifier: Apache-2.0 */
/* The program's device memory, kept on the host and put back (aclrtMalloc() and its like; not
   managed memory, nor that of aclrtMallocPhysical()). */
#ifndef NPUSIM_ACL_RT_SNAPSHOT_H
#define NPUSIM_ACL_RT_SNAPSHOT_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#define NPUSIM_OF_THIS_PROCESS = 0
#define NPUSIM_NONE = nullptr
#else
#define NPUSIM_OF_THIS_PROCESS
#define NPUSIM_NONE
#endif

typedef enum {
  ACL_RT_SNAPSHOT_LOCK_PRE = 0,
  ACL_RT_SNAPSHOT_BACKUP_PRE = 1,
  ACL_RT_SNAPSHOT_BACKUP_POST = 2,
  ACL_RT_SNAPSHOT_RESTORE_PRE = 3,
  ACL_RT_SNAPSHOT_RESTORE_POST = 4,
  ACL_RT_SNAPSHOT_UNLOCK_POST = 5
} aclrtSnapShotStage;
typedef struct {
  uint32_t backupFlags;
} aclrtSnapShotBackupArgs;
typedef struct {
  uint32_t restoreFlags;
} aclrtSnapShotRestoreArgs;
/* Anything but 0 ends the call that has come to the stage with 507912. */
typedef uint32_t (*aclrtSnapShotCallBack)(int32_t device, void* args);

/* `pid` is the process' own or 0, the other parameter null; 100000: another.
   From now on calls of other threads wait, and streams have ended their work. 507906: the process
   is locked. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessLock(int pid NPUSIM_OF_THIS_PROCESS,
                                                      void* reserve NPUSIM_NONE);
/* Copies the memory to the host. The last one counts. 507908: the process is not locked, or it is
   not possible. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessBackup(
    int pid NPUSIM_OF_THIS_PROCESS, aclrtSnapShotBackupArgs* args NPUSIM_NONE);
/* Copies it back. 507909: the process is not locked, there is no backup, or some of the memory was
   freed since. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessRestore(
    int pid NPUSIM_OF_THIS_PROCESS, aclrtSnapShotRestoreArgs* args NPUSIM_NONE);
/* 507907: the process is not locked. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessUnlock(int pid NPUSIM_OF_THIS_PROCESS,
                                                        void* reserve NPUSIM_NONE);
/* Called for each device that is set, in the order in which they were registered. 507913: the
   function is registered for the stage already, or to be taken back and is not. */
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage,
                                                           aclrtSnapShotCallBack call, void* args);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage,
                                                             aclrtSnapShotCallBack call);

#undef NPUSIM_OF_THIS_PROCESS
#undef NPUSIM_NONE

#ifdef __cplusplus
}
#endif
#endif
