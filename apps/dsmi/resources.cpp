// SPDX-License-Identifier: Apache-2.0
// Resources of cards and processes, groups of cores, virtual devices.
#include <algorithm>
#include <cstring>

#include "apps/dsmi/call.hpp"

using namespace npu;
using namespace npu::dsmi;

namespace {

int put(dsmi_resource_info& info, const void* from, std::size_t bytes) {
  if (info.buf_len < bytes) return DSMI_ERROR_PARAMETER;
  if (bytes != 0) std::memcpy(info.buf, from, bytes);
  info.buf_len = static_cast<unsigned>(bytes);
  return DSMI_OK;
}

int put_bytes(dsmi_resource_info& info, unsigned long long value) {
  return put(info, &value, sizeof value);
}

int device_resource(CardSession& card, unsigned type, dsmi_resource_info& info) {
  switch (type) {
    case DSMI_DEV_HBM_TOTAL:
    case DSMI_DEV_HBM_FREE: {
      const auto use = card.management.memory_use();
      if (!use) return code_of(use.error());
      return put_bytes(info, type == DSMI_DEV_HBM_TOTAL ? use->total : use->total - use->used);
    }
    case DSMI_DEV_PROCESS_PID: {
      const auto processes = card.management.processes();
      if (!processes) return code_of(processes.error());
      std::vector<int> pids;
      for (const auto& one : *processes) pids.push_back(static_cast<int>(one.process.value));
      return put(info, pids.data(), pids.size() * sizeof(int));
    }
    default:
      return DSMI_ERROR_NOT_SUPPORT;
  }
}

int process_resource(CardSession& card, const dsmi_resource_para& para, dsmi_resource_info& info) {
  if (para.resource_type != DSMI_DEV_PROCESS_MEM) return DSMI_ERROR_NOT_SUPPORT;
  const auto processes = card.management.processes();
  if (!processes) return code_of(processes.error());
  unsigned long long sum = 0;
  bool found = false;
  for (const auto& one : *processes) {
    if (one.process.value != para.owner_id) continue;
    found = true;
    sum += one.memory;
  }
  return found ? put_bytes(info, sum) : DSMI_ERROR_NOT_EXIST;
}

constexpr int kAiCores = 0;  // the only scheduler of tasks, ts_id

// Clusters by number or by mask. Of what cannot be divided nothing may be asked for.
Result<driver::ComputeGroupOptions> options_of(const dsmi_capability_group_info& wanted) {
  if (wanted.sdma_number != 0 || wanted.aicpu_number != 0 || wanted.active_sq_number != 0) {
    return fail(ErrorCode::kUnsupported, "engines, AICPUs and queues are not grouped");
  }
  driver::ComputeGroupOptions options;
  options.id = wanted.group_id;
  options.cluster_mask[0] =
      wanted.aicore_mask[0] | static_cast<std::uint64_t>(wanted.aicore_mask[1]) << 32;
  if (options.cluster_mask[0] == 0) options.clusters = wanted.aicore_number;
  return options;
}

dsmi_capability_group_info info_of(const driver::ComputeGroup& group) {
  dsmi_capability_group_info info{};
  info.group_id = group.id;
  info.state = DSMI_CAPABILITY_GROUP_CREATED;
  info.extend_attribute = group.id == 0 ? DSMI_CAPABILITY_GROUP_DEFAULT : 0;
  info.aicore_number = group.cluster_count;
  info.aivector_number = group.vector_cores;
  info.aicore_mask[0] = static_cast<unsigned>(group.clusters[0]);
  info.aicore_mask[1] = static_cast<unsigned>(group.clusters[0] >> 32);
  return info;
}

}  // namespace

extern "C" {

int dsmi_get_resource_info(unsigned int device_id, struct dsmi_resource_para* para,
                           struct dsmi_resource_info* info) {
  if (para == nullptr || info == nullptr || info->buf == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    switch (para->owner_type) {
      case DSMI_DEV_RESOURCE:
        return device_resource(card, para->resource_type, *info);
      case DSMI_PROCESS_RESOURCE:
        return process_resource(card, *para, *info);
      case DSMI_VDEV_RESOURCE:
        return DSMI_ERROR_NOT_SUPPORT;
      default:
        return DSMI_ERROR_PARAMETER;
    }
  });
}

int dsmi_create_capability_group(int device_id, int ts_id,
                                 struct dsmi_capability_group_info* group_info) {
  if (group_info == nullptr || ts_id != kAiCores) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    const auto options = options_of(*group_info);
    if (!options) return code_of(options.error());
    const auto made = card.access->create_group(*options);
    if (!made) return code_of(made.error());
    *group_info = info_of(*made);
    return DSMI_OK;
  });
}

int dsmi_delete_capability_group(int device_id, int ts_id, int group_id) {
  if (ts_id != kAiCores || group_id < 0) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    return give(card.access->remove_group(static_cast<std::uint32_t>(group_id)));
  });
}

int dsmi_get_capability_group_info(int device_id, int ts_id, int group_id,
                                   struct dsmi_capability_group_info* group_info, int group_count) {
  if (group_info == nullptr || group_count < 1 || ts_id != kAiCores || group_id < -1) {
    return DSMI_ERROR_PARAMETER;
  }
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    const auto groups = card.access->groups();
    if (!groups) return code_of(groups.error());
    const bool all = group_id == -1;
    std::vector<dsmi_capability_group_info> found;
    for (const auto& group : *groups) {
      if (all || group.id == static_cast<std::uint32_t>(group_id)) found.push_back(info_of(group));
    }
    if (found.empty()) return DSMI_ERROR_NOT_EXIST;
    const auto room = all ? static_cast<std::size_t>(group_count) : 1;
    if (found.size() > room) return DSMI_ERROR_PARAMETER;
    found.resize(room);
    std::copy(found.begin(), found.end(), group_info);
    return DSMI_OK;
  });
}

int dsmi_create_vdevice(unsigned int device_id, unsigned int vdev_id,
                        struct dsmi_create_vdev_res_stru* resource,
                        struct dsmi_create_vdev_result* result) {
  if (resource == nullptr || result == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session& session, CardSession&) -> int {
    auto* const devices = session.virtual_devices();
    if (devices == nullptr) return DSMI_ERROR_NOT_SUPPORT;
    return devices->create(device_id, vdev_id, *resource, *result);
  });
}

int dsmi_destroy_vdevice(unsigned int device_id, unsigned int vdev_id) {
  return on_card(device_id, [&](Session& session, CardSession&) -> int {
    auto* const devices = session.virtual_devices();
    return devices == nullptr ? DSMI_ERROR_NOT_SUPPORT : devices->destroy(device_id, vdev_id);
  });
}

}  // extern "C"
