// SPDX-License-Identifier: Apache-2.0
// Collective operations: arguments are looked at here as far as one rank alone knows them.
#include <hccl/hccl.h>

#include <cstring>
#include <initializer_list>
#include <vector>

#include "apps/compat/hccl/outcome.hpp"

using namespace npu::compat;        // NOLINT(google-build-using-namespace)
using namespace npu::compat::hccl;  // NOLINT(google-build-using-namespace)

namespace {

// Arguments of every operation. Null pointers of `others` are errors as well.
HcclResult check(HcclDataType type, std::uint64_t count, HcclComm comm, aclrtStream stream,
                 std::initializer_list<const void*> others) {
  if (comm == nullptr || stream == nullptr) return HCCL_E_PTR;
  for (const auto* const other : others) {
    if (other == nullptr) return HCCL_E_PTR;
  }
  if (static_cast<unsigned>(type) > HCCL_DATA_TYPE_BFP16) {
    const bool is_one = static_cast<unsigned>(type) <= HCCL_DATA_TYPE_FP8E8M0 &&
                        static_cast<unsigned>(type) != HCCL_DATA_TYPE_INT128 + 1;
    return is_one ? HCCL_E_NOT_SUPPORT : HCCL_E_PARA;
  }
  return count > wire::kMostElements ? HCCL_E_PARA : HCCL_SUCCESS;
}

HcclResult check(HcclReduceOp op) {
  return static_cast<unsigned>(op) > HCCL_REDUCE_MIN ? HCCL_E_PARA : HCCL_SUCCESS;
}

wire::CollectiveWork work_of(HcclComm comm, aclrtStream stream, const void* from, const void* to,
                             std::uint64_t count, HcclDataType type) {
  wire::CollectiveWork work;
  work.communicator = word(comm);
  work.stream = word(stream);
  work.from = word(from);
  work.to = word(to);
  work.count = count;
  work.type = static_cast<std::uint64_t>(type);
  return work;
}

// One without lists.
template <Call kCall>
HcclResult begin(const wire::CollectiveWork& work) {
  return result_of(ask<kCall>(work));
}

// One with a reduction. Pointers are where data are, and must not be null.
template <Call kCall>
HcclResult begin_reduction(const void* from, const void* to, std::uint64_t count, HcclDataType type,
                           HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  if (count == 0) return HCCL_SUCCESS;
  auto result = check(type, count, comm, stream, {from, to});
  if (result == HCCL_SUCCESS) result = check(op);
  if (result != HCCL_SUCCESS) return result;
  auto work = work_of(comm, stream, from, to, count, type);
  work.reduction = op;
  return begin<kCall>(work);
}

// One with a root or a peer, of one buffer: `from`, `to`, or both.
template <Call kCall>
HcclResult begin_with(std::uint32_t peer, const void* from, const void* to, std::uint64_t count,
                      HcclDataType type, HcclComm comm, aclrtStream stream) {
  if (count == 0) return HCCL_SUCCESS;
  const auto result = check(type, count, comm, stream, {from == nullptr ? to : from});
  if (result != HCCL_SUCCESS) return result;
  auto work = work_of(comm, stream, from, to, count, type);
  work.peer = peer;
  return begin<kCall>(work);
}

std::uint32_t ranks_of(HcclComm comm) {
  std::uint32_t ranks = 0;
  return HcclGetRankSize(comm, &ranks) == HCCL_SUCCESS ? ranks : 0;
}

// With lists of uint64_t, one for each rank.
template <Call kCall>
HcclResult begin(HcclComm comm, const wire::CollectiveWork& work,
                 std::initializer_list<const void*> lists) {
  const auto ranks = ranks_of(comm);
  if (ranks == 0) return HCCL_E_PARA;
  auto* const window = channel_of_this_thread()->window();
  const std::size_t bytes = ranks * sizeof(std::uint64_t);
  std::size_t at = 0;
  for (const auto* const list : lists) {
    std::memcpy(window + at, list, bytes);
    at += bytes;
  }
  return result_of(ask<kCall>(work, nullptr, at));
}

HcclResult check_pair(const void* from, const void* to, HcclDataType sent, HcclDataType received,
                      HcclComm comm, aclrtStream stream, std::initializer_list<const void*> lists) {
  const auto result = check(sent, 0, comm, stream, lists);
  if (result != HCCL_SUCCESS) return result;
  return sent != received || (from != nullptr && from == to) ? HCCL_E_PARA : HCCL_SUCCESS;
}

}  // namespace

extern "C" {

HcclResult HcclAllReduce(void* send_buf, void* recv_buf, uint64_t count, HcclDataType data_type,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return begin_reduction<Call::kAllReduce>(send_buf, recv_buf, count, data_type, op, comm, stream);
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType data_type, uint32_t root,
                         HcclComm comm, aclrtStream stream) {
  return begin_with<Call::kBroadcast>(root, buf, buf, count, data_type, comm, stream);
}

HcclResult HcclReduceScatter(void* send_buf, void* recv_buf, uint64_t recv_count,
                             HcclDataType data_type, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream) {
  return begin_reduction<Call::kReduceScatter>(send_buf, recv_buf, recv_count, data_type, op, comm,
                                               stream);
}

HcclResult HcclReduceScatterV(void* send_buf, const void* send_counts, const void* send_displs,
                              void* recv_buf, uint64_t recv_count, HcclDataType data_type,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  auto result = check(data_type, recv_count, comm, stream, {send_counts, send_displs});
  if (result == HCCL_SUCCESS) result = check(op);
  if (result == HCCL_SUCCESS && recv_count != 0 && recv_buf == nullptr) result = HCCL_E_PTR;
  if (result != HCCL_SUCCESS) return result;
  auto work = work_of(comm, stream, send_buf, recv_buf, recv_count, data_type);
  work.reduction = op;
  return begin<Call::kReduceScatterV>(comm, work, {send_counts, send_displs});
}

HcclResult HcclScatter(void* send_buf, void* recv_buf, uint64_t recv_count, HcclDataType data_type,
                       uint32_t root, HcclComm comm, aclrtStream stream) {
  if (recv_count == 0) return HCCL_SUCCESS;
  auto result = check(data_type, recv_count, comm, stream, {recv_buf});
  if (result != HCCL_SUCCESS) return result;
  std::uint32_t rank = 0;
  result = HcclGetRankId(comm, &rank);
  if (result == HCCL_SUCCESS && rank == root && send_buf == nullptr) result = HCCL_E_PTR;
  if (result != HCCL_SUCCESS) return result;
  auto work = work_of(comm, stream, send_buf, recv_buf, recv_count, data_type);
  work.peer = root;
  return begin<Call::kScatter>(work);
}

HcclResult HcclAllGather(void* send_buf, void* recv_buf, uint64_t send_count,
                         HcclDataType data_type, HcclComm comm, aclrtStream stream) {
  if (send_count == 0) return HCCL_SUCCESS;
  const auto result = check(data_type, send_count, comm, stream, {send_buf, recv_buf});
  if (result != HCCL_SUCCESS) return result;
  return begin<Call::kAllGather>(work_of(comm, stream, send_buf, recv_buf, send_count, data_type));
}

HcclResult HcclAllGatherV(void* send_buf, uint64_t send_count, void* recv_buf,
                          const void* recv_counts, const void* recv_displs, HcclDataType data_type,
                          HcclComm comm, aclrtStream stream) {
  auto result = check(data_type, send_count, comm, stream, {recv_buf, recv_counts, recv_displs});
  if (result == HCCL_SUCCESS && send_count != 0 && send_buf == nullptr) result = HCCL_E_PTR;
  if (result != HCCL_SUCCESS) return result;
  return begin<Call::kAllGatherV>(comm,
                                  work_of(comm, stream, send_buf, recv_buf, send_count, data_type),
                                  {recv_counts, recv_displs});
}

HcclResult HcclSend(void* send_buf, uint64_t count, HcclDataType data_type, uint32_t dest_rank,
                    HcclComm comm, aclrtStream stream) {
  return begin_with<Call::kSend>(dest_rank, send_buf, nullptr, count, data_type, comm, stream);
}

HcclResult HcclRecv(void* recv_buf, uint64_t count, HcclDataType data_type, uint32_t src_rank,
                    HcclComm comm, aclrtStream stream) {
  return begin_with<Call::kReceive>(src_rank, nullptr, recv_buf, count, data_type, comm, stream);
}

HcclResult HcclAlltoAll(const void* send_buf, uint64_t send_count, HcclDataType send_type,
                        const void* recv_buf, uint64_t recv_count, HcclDataType recv_type,
                        HcclComm comm, aclrtStream stream) {
  if (send_count == 0 && recv_count == 0) return HCCL_SUCCESS;
  const auto result =
      check_pair(send_buf, recv_buf, send_type, recv_type, comm, stream, {send_buf, recv_buf});
  if (result != HCCL_SUCCESS) return result;
  if (send_count != recv_count || send_count > wire::kMostElements) return HCCL_E_PARA;
  return begin<Call::kAllToAll>(work_of(comm, stream, send_buf, recv_buf, send_count, send_type));
}

HcclResult HcclAlltoAllV(const void* send_buf, const void* send_counts, const void* sdispls,
                         HcclDataType send_type, const void* recv_buf, const void* recv_counts,
                         const void* rdispls, HcclDataType recv_type, HcclComm comm,
                         aclrtStream stream) {
  const auto result = check_pair(send_buf, recv_buf, send_type, recv_type, comm, stream,
                                 {send_counts, sdispls, recv_counts, rdispls});
  if (result != HCCL_SUCCESS) return result;
  return begin<Call::kAllToAllV>(comm, work_of(comm, stream, send_buf, recv_buf, 0, send_type),
                                 {send_counts, sdispls, recv_counts, rdispls});
}

HcclResult HcclAlltoAllVC(const void* send_buf, const void* send_count_matrix,
                          HcclDataType send_type, const void* recv_buf, HcclDataType recv_type,
                          HcclComm comm, aclrtStream stream) {
  auto result =
      check_pair(send_buf, recv_buf, send_type, recv_type, comm, stream, {send_count_matrix});
  std::uint32_t rank = 0, ranks = 0;
  if (result == HCCL_SUCCESS) result = HcclGetRankId(comm, &rank);
  if (result == HCCL_SUCCESS) result = HcclGetRankSize(comm, &ranks);
  if (result != HCCL_SUCCESS) return result;
  std::vector<std::uint64_t> sent(ranks), sent_at(ranks), received(ranks), received_at(ranks);
  const auto* const matrix = static_cast<const std::uint64_t*>(send_count_matrix);
  std::uint64_t from = 0, to = 0;
  for (std::uint32_t other = 0; other < ranks; ++other) {
    sent[other] = matrix[std::size_t{rank} * ranks + other];
    received[other] = matrix[std::size_t{other} * ranks + rank];
    sent_at[other] = from;
    received_at[other] = to;
    from += sent[other];
    to += received[other];
  }
  return HcclAlltoAllV(send_buf, sent.data(), sent_at.data(), send_type, recv_buf, received.data(),
                       received_at.data(), recv_type, comm, stream);
}

HcclResult HcclReduce(void* send_buf, void* recv_buf, uint64_t count, HcclDataType data_type,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
  if (count == 0) return HCCL_SUCCESS;
  auto result = check(data_type, count, comm, stream, {send_buf});
  if (result == HCCL_SUCCESS) result = check(op);
  std::uint32_t rank = 0;
  if (result == HCCL_SUCCESS) result = HcclGetRankId(comm, &rank);
  if (result == HCCL_SUCCESS && rank == root && recv_buf == nullptr) result = HCCL_E_PTR;
  if (result != HCCL_SUCCESS) return result;
  auto work = work_of(comm, stream, send_buf, recv_buf, count, data_type);
  work.reduction = op;
  work.peer = root;
  return begin<Call::kReduceToRoot>(work);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* send_recv_info, uint32_t item_num, HcclComm comm,
                             aclrtStream stream) {
  auto result = check(HCCL_DATA_TYPE_INT8, 0, comm, stream, {send_recv_info});
  if (result != HCCL_SUCCESS) return result;
  if (item_num == 0 || item_num > wire::kMostItems) return HCCL_E_PARA;
  std::vector<wire::SendReceiveItem> items;
  for (std::uint32_t i = 0; i < item_num; ++i) {
    const auto& item = send_recv_info[i];
    result = check(item.dataType, item.count, comm, stream, {item.buf});
    if (result != HCCL_SUCCESS) return result;
    if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV) return HCCL_E_PARA;
    items.push_back({static_cast<std::uint64_t>(item.sendRecvType), item.remoteRank, word(item.buf),
                     item.count, static_cast<std::uint64_t>(item.dataType)});
  }
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return HCCL_E_DRV;
  const std::size_t bytes = items.size() * sizeof items.front();
  std::memcpy(channel->window(), items.data(), bytes);
  const auto work = work_of(comm, stream, nullptr, nullptr, item_num, HCCL_DATA_TYPE_INT8);
  return result_of(ask<Call::kSendReceive>(work, nullptr, bytes));
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  const auto result = check(HCCL_DATA_TYPE_INT8, 0, comm, stream, {});
  if (result != HCCL_SUCCESS) return result;
  return begin<Call::kBarrier>(work_of(comm, stream, nullptr, nullptr, 0, HCCL_DATA_TYPE_INT8));
}

}  // extern "C"
