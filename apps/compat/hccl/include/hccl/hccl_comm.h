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
ACL_FUNC_VISIBILITY HcclResult HcclGetRootInfo(HcclRootInfo* root_info);
/* HCCL_E_PARA: no rank, a rank that is none or has come already, ranks that say different numbers
   of them, a root info that is none; HCCL_E_TIMEOUT: not all ranks came; HCCL_E_NOT_SUPPORT: two
   devices have no link between them; HCCL_E_OOM: no memory for the buffer. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfo(uint32_t n_ranks, const HcclRootInfo* root_info,
                                                    uint32_t rank, HcclComm* comm);
/* HCCL_E_PARA also: a configuration that HcclCommConfigInit() has not filled in. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfoConfig(uint32_t n_ranks,
                                                          const HcclRootInfo* root_info,
                                                          uint32_t rank,
                                                          const HcclCommConfig* config,
                                                          HcclComm* comm);
/* `cluster_info`: the name of a rank table (JSON). HCCL_E_OPEN_FILE_FAILURE: no such file;
   HCCL_E_PARA: not a table, or not one of this rank on this device; HCCL_E_NOT_SUPPORT: several
   servers. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfo(const char* cluster_info, uint32_t rank,
                                                       HcclComm* comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfoConfig(const char* cluster_info,
                                                             uint32_t rank, HcclCommConfig* config,
                                                             HcclComm* comm);
/* All ranks are of this process, one on each device; devices are set if they are not. */
ACL_FUNC_VISIBILITY HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);
/* By each rank of `rank_ids`, in the order of their new numbers. Null `rank_ids` and sub_comm_id
   0xFFFFFFFF: the rank is not in it. */
ACL_FUNC_VISIBILITY HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rank_num,
                                                       uint32_t* rank_ids, uint64_t sub_comm_id,
                                                       uint32_t sub_comm_rank_id,
                                                       HcclCommConfig* config, HcclComm* sub_comm);
/* Waits for the rank's operations. The other ranks' later operations fail. */
ACL_FUNC_VISIBILITY HcclResult HcclCommDestroy(HcclComm comm);

ACL_FUNC_VISIBILITY HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rank_size);
ACL_FUNC_VISIBILITY HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
/* `comm_name`: 128 bytes. */
ACL_FUNC_VISIBILITY HcclResult HcclGetCommName(HcclComm comm, char* comm_name);
/* HCCL_E_NOT_FOUND. */
ACL_FUNC_VISIBILITY HcclResult HcclCommGetHandleWithName(const char* comm_name, HcclComm* comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommGetStatus(const char* comm_id, HcclCommStatus* status);

/* Later work of the stream begins when all ranks' streams have come here. */
ACL_FUNC_VISIBILITY HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

/* HCCL_E_REMOTE: operations of the rank have failed; aclGetRecentErrMsg() says why. */
ACL_FUNC_VISIBILITY HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* async_error);
ACL_FUNC_VISIBILITY const char* HcclGetErrorString(HcclResult code);
/* Between them operations are refused with HCCL_E_SUSPENDING. HCCL_E_NOT_SUPPORT: operations of a
   communicator that is to go on have failed. */
ACL_FUNC_VISIBILITY HcclResult HcclCommSuspend(HcclComm comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommResume(HcclComm comm);

/* HCCL_DETERMINISTIC: 0, 1 or 2, which change nothing: the model is deterministic. */
ACL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue config_value);
ACL_FUNC_VISIBILITY HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* config_value);
ACL_FUNC_VISIBILITY void HcclCommConfigInit(HcclCommConfig* config);
ACL_FUNC_VISIBILITY uint32_t HcclGetCommConfigCapability(void);

/* Not modelled: HCCL_E_NOT_SUPPORT. */
ACL_FUNC_VISIBILITY HcclResult HcclCommSetMemoryRange(HcclComm comm, void* base_vir_ptr,
                                                      size_t size, size_t alignment,
                                                      uint64_t flags);
ACL_FUNC_VISIBILITY HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* base_vir_ptr);
ACL_FUNC_VISIBILITY HcclResult HcclCommActivateCommMemory(HcclComm comm, void* vir_ptr, size_t size,
                                                          size_t offset, aclrtDrvMemHandle handle,
                                                          uint64_t flags);
ACL_FUNC_VISIBILITY HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* vir_ptr);
ACL_FUNC_VISIBILITY HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks,
                                                        bool* use_backup, uint32_t n_ranks);
ACL_FUNC_VISIBILITY HcclResult HcclGroupStart(void);
ACL_FUNC_VISIBILITY HcclResult HcclGroupEnd(void);

#ifdef __cplusplus
}
#endif
#endif
