// SPDX-License-Identifier: Apache-2.0
// Communicators: how they are made, what there is to know of them, their end.
#include <hccl/hccl_comm.h>
#include <runtime/dev.h>
#include <runtime/npusim_rt.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "apps/compat/hccl/join.hpp"
#include "apps/compat/hccl/outcome.hpp"
#include "apps/compat/hccl/rank_table.hpp"

using namespace npu::compat;        // NOLINT(google-build-using-namespace)
using namespace npu::compat::hccl;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kRootInfo[] = "npusim HCCL root ";

// The key of a root info. False: it is none.
bool key_of(const HcclRootInfo& info, std::string* key) {
  const auto size = strnlen(info.internal, sizeof kRootInfo + 20);
  *key = std::string(info.internal, size);
  return size > sizeof kRootInfo - 1 && key->compare(0, sizeof kRootInfo - 1, kRootInfo) == 0;
}

HcclResult new_root(std::string* key) {
  std::uint64_t number = 0;
  const int status = ask_for<Call::kCommunicatorRoot>(&number);
  *key = kRootInfo + std::to_string(number);
  return result_of(status);
}

// The rank of the thread's device.
HcclResult join_here(const std::string& key, std::uint32_t ranks, std::uint32_t rank,
                     const HcclCommConfig* config, HcclComm* comm) {
  if (ranks == 0 || ranks > wire::kMostRanks || rank >= ranks) return HCCL_E_PARA;
  Settings settings;
  auto result = read_settings(config, &settings);
  if (result != HCCL_SUCCESS) return result;
  wire::JoiningRank member{rank, 0};
  result = device_of_thread(&member.device);
  if (result != HCCL_SUCCESS) return result;
  return join(key, ranks, {member}, settings, comm);
}

HcclResult join_root(std::uint32_t ranks, const HcclRootInfo* info, std::uint32_t rank,
                     const HcclCommConfig* config, HcclComm* comm) {
  if (info == nullptr || comm == nullptr) return HCCL_E_PTR;
  std::string key;
  if (!key_of(*info, &key)) return refuse(HCCL_E_PARA, "a root info of nobody");
  return join_here(key, ranks, rank, config, comm);
}

HcclResult join_table(const char* file, std::uint32_t rank, const HcclCommConfig* config,
                      HcclComm* comm) {
  if (file == nullptr || comm == nullptr) return HCCL_E_PTR;
  RankTable table;
  auto result = read_rank_table(file, &table);
  if (result != HCCL_SUCCESS) return result;
  std::int64_t device = 0;
  result = device_of_thread(&device);
  if (result != HCCL_SUCCESS) return result;
  if (rank >= table.devices.size() || table.devices[rank] != device) {
    return refuse(HCCL_E_PARA, "%s: rank %u is not on device %lld", file, rank,
                  static_cast<long long>(device));
  }
  return join_here(table.key, static_cast<std::uint32_t>(table.devices.size()), rank, config, comm);
}

HcclResult ask_about(HcclComm comm, wire::CommunicatorInfo* info) {
  if (comm == nullptr) return HCCL_E_PTR;
  return result_of(ask<Call::kCommunicatorInfo>({word(comm)}, info));
}

// One number of what there is to know.
HcclResult ask_about(HcclComm comm, std::uint64_t wire::CommunicatorInfo::*which,
                     std::uint32_t* number) {
  if (number == nullptr) return HCCL_E_PTR;
  wire::CommunicatorInfo info;
  const auto result = ask_about(comm, &info);
  if (result == HCCL_SUCCESS) *number = static_cast<std::uint32_t>(info.*which);
  return result;
}

// Sets what is not set. The thread's device stays what it was.
HcclResult open_devices(std::uint32_t count, const int32_t* devices,
                        std::vector<wire::JoiningRank>* members) {
  std::int32_t before = 0;
  const bool had_one = rtGetDevice(&before) == RT_ERROR_NONE;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const auto machine = npusimRtMachineDevice(devices[rank]);
    const auto twice = std::any_of(members->begin(), members->end(),
                                   [machine](const auto& one) { return one.device == machine; });
    if (twice) return HCCL_E_PARA;
    std::uint64_t open = 0;
    int status = ask_for<Call::kPrimaryState>(&open, {machine});
    if (status == 0 && open == 0) status = rtSetDevice(devices[rank]);
    if (status != 0) return result_of(status);
    members->push_back({rank, machine});
  }
  return had_one ? result_of(rtSetDevice(before)) : HCCL_SUCCESS;
}

HcclResult suspend(HcclComm comm, bool suspended) {
  if (comm == nullptr) return HCCL_E_PTR;
  return result_of(ask<Call::kCommunicatorSwitch>({word(comm), suspended ? 1U : 0U}));
}

}  // namespace

extern "C" {

HcclResult HcclGetRootInfo(HcclRootInfo* root_info) {
  if (root_info == nullptr) return HCCL_E_PTR;
  std::string key;
  const auto result = new_root(&key);
  if (result != HCCL_SUCCESS) return result;
  std::memset(root_info, 0, sizeof *root_info);
  std::memcpy(root_info->internal, key.data(), key.size());
  return HCCL_SUCCESS;
}

HcclResult HcclCommInitRootInfo(uint32_t n_ranks, const HcclRootInfo* root_info, uint32_t rank,
                                HcclComm* comm) {
  return join_root(n_ranks, root_info, rank, nullptr, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t n_ranks, const HcclRootInfo* root_info,
                                      uint32_t rank, const HcclCommConfig* config, HcclComm* comm) {
  if (config == nullptr) return HCCL_E_PTR;
  return join_root(n_ranks, root_info, rank, config, comm);
}

HcclResult HcclCommInitClusterInfo(const char* cluster_info, uint32_t rank, HcclComm* comm) {
  return join_table(cluster_info, rank, nullptr, comm);
}

HcclResult HcclCommInitClusterInfoConfig(const char* cluster_info, uint32_t rank,
                                         HcclCommConfig* config, HcclComm* comm) {
  if (config == nullptr) return HCCL_E_PTR;
  return join_table(cluster_info, rank, config, comm);
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  if (devices == nullptr || comms == nullptr) return HCCL_E_PTR;
  if (ndev == 0 || ndev > wire::kMostRanks) return HCCL_E_PARA;
  Settings settings;
  auto result = read_settings(nullptr, &settings);
  std::string key;
  std::vector<wire::JoiningRank> members;
  if (result == HCCL_SUCCESS) result = open_devices(ndev, devices, &members);
  if (result == HCCL_SUCCESS) result = new_root(&key);
  if (result != HCCL_SUCCESS) return result;
  return join(key, ndev, members, settings, comms);
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rank_num, uint32_t* rank_ids,
                                   uint64_t sub_comm_id, uint32_t sub_comm_rank_id,
                                   HcclCommConfig* config, HcclComm* sub_comm) {
  constexpr std::uint64_t kOutside = 0xFFFF'FFFF;
  if (comm == nullptr || *comm == nullptr || config == nullptr || sub_comm == nullptr) {
    return HCCL_E_PTR;
  }
  if (rank_ids == nullptr) {
    if (sub_comm_id != kOutside) return HCCL_E_PTR;
    *sub_comm = nullptr;
    return HCCL_SUCCESS;
  }
  char name[COMM_NAME_MAX_LENGTH];
  wire::CommunicatorInfo info;
  auto result = ask_about(*comm, &info);
  if (result == HCCL_SUCCESS) result = HcclGetCommName(*comm, name);
  if (result != HCCL_SUCCESS) return result;
  if (sub_comm_id == kOutside || rank_num == 0 || rank_num > info.ranks ||
      sub_comm_rank_id >= rank_num || rank_ids[sub_comm_rank_id] != info.rank) {
    return HCCL_E_PARA;
  }
  std::string key = std::string("part ") + std::to_string(sub_comm_id) + " of " + name + ":";
  std::vector<std::uint32_t> seen(rank_ids, rank_ids + rank_num);
  for (const auto rank : seen) key += ' ' + std::to_string(rank);
  std::sort(seen.begin(), seen.end());
  const bool twice = std::adjacent_find(seen.begin(), seen.end()) != seen.end();
  if (twice || seen.back() >= info.ranks) return HCCL_E_PARA;
  return join_here(key, rank_num, sub_comm_rank_id, config, sub_comm);
}

HcclResult HcclCommDestroy(HcclComm comm) {
  if (comm == nullptr) return HCCL_E_PTR;
  return result_of(ask<Call::kCommunicatorEnd>({word(comm)}));
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rank_size) {
  return ask_about(comm, &wire::CommunicatorInfo::ranks, rank_size);
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return ask_about(comm, &wire::CommunicatorInfo::rank, rank);
}

HcclResult HcclGetCommName(HcclComm comm, char* comm_name) {
  if (comm_name == nullptr) return HCCL_E_PTR;
  wire::CommunicatorInfo info;
  const auto result = ask_about(comm, &info);
  if (result != HCCL_SUCCESS) return result;
  const auto size = std::min<std::uint64_t>(info.name_bytes, COMM_NAME_MAX_LENGTH - 1);
  std::memcpy(comm_name, channel_of_this_thread()->window(), size);
  comm_name[size] = 0;
  return HCCL_SUCCESS;
}

HcclResult HcclCommGetHandleWithName(const char* comm_name, HcclComm* comm) {
  if (comm_name == nullptr || comm == nullptr) return HCCL_E_PTR;
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return HCCL_E_DRV;
  const auto size = strnlen(comm_name, wire::kLongestCommunicator + 1);
  if (size > wire::kLongestCommunicator) return HCCL_E_PARA;
  std::memcpy(channel->window(), comm_name, size);
  const int status = ask_for<Call::kCommunicatorFind>(comm, {size}, size);
  return status == kRuntimeParameter ? HCCL_E_NOT_FOUND : result_of(status);
}

HcclResult HcclCommGetStatus(const char* comm_id, HcclCommStatus* status) {
  if (comm_id == nullptr || status == nullptr) return HCCL_E_PTR;
  HcclComm comm = nullptr;
  wire::CommunicatorInfo info;
  *status = HCCL_COMM_STATUS_INVALID;
  auto result = HcclCommGetHandleWithName(comm_id, &comm);
  if (result == HCCL_SUCCESS) result = ask_about(comm, &info);
  if (result == HCCL_SUCCESS) {
    *status = info.suspended == 0 ? HCCL_COMM_STATUS_READY : HCCL_COMM_STATUS_SUSPENDING;
  }
  return result;
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* async_error) {
  if (comm == nullptr || async_error == nullptr) return HCCL_E_PTR;
  wire::CommunicatorFailure failure;
  const int status = ask<Call::kCommunicatorFailure>({word(comm)}, &failure);
  if (status == 0) *async_error = failure.bytes == 0 ? HCCL_SUCCESS : HCCL_E_REMOTE;
  return result_of(status);
}

HcclResult HcclCommSuspend(HcclComm comm) {
  return suspend(comm, true);
}

HcclResult HcclCommResume(HcclComm comm) {
  return suspend(comm, false);
}

}  // extern "C"
