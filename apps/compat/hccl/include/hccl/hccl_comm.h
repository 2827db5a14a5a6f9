/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators. A rank is a device that its process has set. A call that makes a communicator
   waits until all ranks have called, for HCCL_CONNECT_TIMEOUT seconds of simulated time.

   Environment: HCCL_BUFFSIZE (MB of buffer of a rank: 200), HCCL_EXEC_TIMEOUT (seconds of a wait
   for a peer: 1836; 0: no limit), HCCL_CONNECT_TIMEOUT (120 to 7200 s: 120), HCCL_ALGO. What they
   cannot be is HCCL_E_PARA, with a line on standard error.

   Errors of all: a null pointer HCCL_E_PTR; a handle that is none, or was destroyed HCCL_E_PARA;
   no device set HCCL_E_RUNTIME; no npusim HCCL_E_DRV. */
#ifndef NPUSIM_HCCL_COMM_H
#define NPUSIM_HCCL_COMM_H

#include <acl/acl.h>
#include <hccl/hccl_types.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of one rank, which gives it to the others. */
extern HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);
/* HCCL_E_PARA: no rank, a rank that is none or has come already, ranks that say different numbers
   of them, a root info that is none; HCCL_E_TIMEOUT: not all ranks came; HCCL_E_NOT_SUPPORT: two
   devices have no link between them; HCCL_E_OOM: no memory for the buffer. */
extern HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                       HcclComm* comm);
/* HCCL_E_PARA also: a configuration that HcclCommConfigInit() has not filled in. */
extern HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                             uint32_t rank, const HcclCommConfig* config,
                                             HcclComm* comm);
/* `clusterInfo`: the name of a rank table (JSON). HCCL_E_OPEN_FILE_FAILURE: no such file;
   HCCL_E_PARA: not a table, or not one of this rank on this device; HCCL_E_NOT_SUPPORT: several
   servers. */
extern HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm);
extern HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                                HcclCommConfig* config, HcclComm* comm);
/* All ranks are of this process, one on each device; devices are set if they are not. */
extern HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);
/* By each rank of `rankIds`, in the order of their new numbers. Null `rankIds` and subCommId
   0xFFFFFFFF: the rank is not in it. */
extern HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds,
                                          uint64_t subCommId, uint32_t subCommRankId,
                                          HcclCommConfig* config, HcclComm* subComm);
/* Waits for the rank's operations. The other ranks' later operations fail. */
extern HcclResult HcclCommDestroy(HcclComm comm);

extern HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
extern HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
/* `commName`: 128 bytes. */
extern HcclResult HcclGetCommName(HcclComm comm, char* commName);
/* HCCL_E_NOT_FOUND. */
extern HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm);
extern HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status);

/* Later work of the stream begins when all ranks' streams have come here. */
extern HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

/* HCCL_E_REMOTE: operations of the rank have failed; aclGetRecentErrMsg() says why. */
extern HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
extern const char* HcclGetErrorString(HcclResult code);
/* Between them operations are refused with HCCL_E_SUSPENDING. HCCL_E_NOT_SUPPORT: operations of a
   communicator that is to go on have failed. */
extern HcclResult HcclCommSuspend(HcclComm comm);
extern HcclResult HcclCommResume(HcclComm comm);

/* HCCL_DETERMINISTIC: 0, 1 or 2, which change nothing: the model is deterministic. */
extern HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
extern HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);
extern void HcclCommConfigInit(HcclCommConfig* config);
extern uint32_t HcclGetCommConfigCapability(void);

/* Not modelled: HCCL_E_NOT_SUPPORT. */
extern HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size,
                                         size_t alignment, uint64_t flags);
extern HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr);
extern HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size,
                                             size_t offset, aclrtDrvMemHandle handle,
                                             uint64_t flags);
extern HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr);
extern HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup,
                                           uint32_t nRanks);
extern HcclResult HcclGroupStart(void);
extern HcclResult HcclGroupEnd(void);

#ifdef __cplusplus
}
#endif
#endif
