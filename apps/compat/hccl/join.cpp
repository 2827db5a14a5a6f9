// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/hccl/join.hpp"

#include <cstring>

#include "apps/compat/hccl/outcome.hpp"

namespace npu::compat::hccl {

HcclResult join(const std::string& key, std::uint32_t ranks,
                const std::vector<wire::JoiningRank>& members, const Settings& settings,
                HcclComm* comms) {
  const std::string& wanted = settings.name.empty() ? key : settings.name;
  const std::string name = wanted.substr(0, wire::kLongestCommunicator);
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return HCCL_E_DRV;
  auto* const window = channel->window();
  const std::size_t bytes = members.size() * sizeof(wire::JoiningRank);
  if (bytes + key.size() + name.size() > kWindow) return HCCL_E_PARA;
  std::memcpy(window, members.data(), bytes);
  std::memcpy(window + bytes, key.data(), key.size());
  std::memcpy(window + bytes + key.size(), name.data(), name.size());
  const int status = ask<Call::kCommunicatorJoin>(
      {members.size(), key.size(), name.size(), ranks, settings.buffer_bytes, settings.exec_seconds,
       settings.connect_seconds, settings.algorithms, settings.expansion},
      nullptr, bytes + key.size() + name.size());
  if (status != 0) return result_of(status);
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::uint64_t handle = 0;
    std::memcpy(&handle, window + i * sizeof handle, sizeof handle);
    comms[i] = pointer(handle);
  }
  return HCCL_SUCCESS;
}

HcclResult device_of_thread(std::int64_t* device) {
  std::uint64_t machine = 0;
  const int status = ask_for<Call::kGetDevice>(&machine);
  if (status != 0) return result_of(status);
  *device = static_cast<std::int64_t>(machine);
  return HCCL_SUCCESS;
}

}  // namespace npu::compat::hccl
