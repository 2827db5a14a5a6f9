/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations: each rank calls them with its own communicator, in the same order. A call
   puts the rank's part into its stream's order and returns. Counts are of elements.

   Errors of all, before anything is begun: a null pointer HCCL_E_PTR; a type or reduction that is
   none, a count above 0x7fffffffff, a rank that is none, memory that is not the rank's device's
   HCCL_E_PARA; a type that cannot be reduced so, a stream that is captured, managed memory
   HCCL_E_NOT_SUPPORT; a stream of another device than the rank's HCCL_E_RUNTIME; a communicator
   that is suspended HCCL_E_SUSPENDING; one whose operations have failed HCCL_E_REMOTE. A count of 0
   is HCCL_SUCCESS and nothing else.

   What fails later is an error of the stream (aclrtSynchronizeStream()) and of
   HcclGetCommAsyncError(): a rank that does not come within HCCL_EXEC_TIMEOUT, or that has gone; a
   link that is down. Ranks that call different operations wait for each other that long.

   Reductions are sum, maximum and minimum of int8, int16, int32, fp16, fp32 and bfp16. Without a
   reduction there are also int64, fp64 and the unsigned ones. */
#ifndef NPUSIM_HCCL_H
#define NPUSIM_HCCL_H

#include <acl/acl.h>
#include <hccl/hccl_comm.h>
#include <hccl/hccl_types.h>

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY HcclResult HcclAllReduce(void* send_buf, void* recv_buf, uint64_t count,
                                             HcclDataType data_type, HcclReduceOp op, HcclComm comm,
                                             aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType data_type,
                                             uint32_t root, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatter(void* send_buf, void* recv_buf,
                                                 uint64_t recv_count, HcclDataType data_type,
                                                 HcclReduceOp op, HcclComm comm,
                                                 aclrtStream stream);
/* Counts and displacements are uint64_t, one for each rank. */
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatterV(void* send_buf, const void* send_counts,
                                                  const void* send_displs, void* recv_buf,
                                                  uint64_t recv_count, HcclDataType data_type,
                                                  HcclReduceOp op, HcclComm comm,
                                                  aclrtStream stream);
/* `send_buf` is the root's alone, others' may be null. */
ACL_FUNC_VISIBILITY HcclResult HcclScatter(void* send_buf, void* recv_buf, uint64_t recv_count,
                                           HcclDataType data_type, uint32_t root, HcclComm comm,
                                           aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclAllGather(void* send_buf, void* recv_buf, uint64_t send_count,
                                             HcclDataType data_type, HcclComm comm,
                                             aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclAllGatherV(void* send_buf, uint64_t send_count, void* recv_buf,
                                              const void* recv_counts, const void* recv_displs,
                                              HcclDataType data_type, HcclComm comm,
                                              aclrtStream stream);
/* HCCL_E_PARA also: the other rank is the rank itself. */
ACL_FUNC_VISIBILITY HcclResult HcclSend(void* send_buf, uint64_t count, HcclDataType data_type,
                                        uint32_t dest_rank, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclRecv(void* recv_buf, uint64_t count, HcclDataType data_type,
                                        uint32_t src_rank, HcclComm comm, aclrtStream stream);
/* HCCL_E_PARA also: the two types differ; HcclAlltoAll: the counts differ, or the buffers do not.
 */
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAll(const void* send_buf, uint64_t send_count,
                                            HcclDataType send_type, const void* recv_buf,
                                            uint64_t recv_count, HcclDataType recv_type,
                                            HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAllV(const void* send_buf, const void* send_counts,
                                             const void* sdispls, HcclDataType send_type,
                                             const void* recv_buf, const void* recv_counts,
                                             const void* rdispls, HcclDataType recv_type,
                                             HcclComm comm, aclrtStream stream);
/* send_count_matrix[i * ranks + j]: from rank i to rank j. */
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAllVC(const void* send_buf, const void* send_count_matrix,
                                              HcclDataType send_type, const void* recv_buf,
                                              HcclDataType recv_type, HcclComm comm,
                                              aclrtStream stream);
/* `recv_buf` is the root's alone, others' may be null. */
ACL_FUNC_VISIBILITY HcclResult HcclReduce(void* send_buf, void* recv_buf, uint64_t count,
                                          HcclDataType data_type, HcclReduceOp op, uint32_t root,
                                          HcclComm comm, aclrtStream stream);
/* In any order, without a deadlock. Several for the same rank are matched in their order. */
ACL_FUNC_VISIBILITY HcclResult HcclBatchSendRecv(HcclSendRecvItem* send_recv_info,
                                                 uint32_t item_num, HcclComm comm,
                                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif
