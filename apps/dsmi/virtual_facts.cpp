// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/virtual_facts.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace npu::dsmi {

using driver::CardPartition;

namespace {

template <class Resource>
void put_partition(const CardPartition& partition, Resource& to) {
  to.computing.aic = static_cast<float>(partition.ai_cores);
  to.computing.device_aicpu = static_cast<unsigned short>(partition.aicpus);
  to.computing.memory_size = partition.memory >> 20;
  to.media.vpc = static_cast<float>(partition.vpc);
  to.media.jpegd = static_cast<float>(partition.jpegd);
  to.media.jpege = static_cast<float>(partition.jpege);
  to.media.venc = static_cast<float>(partition.venc);
  to.media.vdec = static_cast<float>(partition.vdec);
}

// How many groups have members, and which.
template <class Resource>
void put_groups(const std::vector<driver::VirtualDevice>& devices, Resource& to) {
  to.vfg_num = to.vfg_bitmap = 0;
  for (const auto& device : devices) {
    if (device.group) to.vfg_bitmap |= 1U << device.group->group;
  }
  for (unsigned bits = to.vfg_bitmap; bits != 0; bits &= bits - 1) ++to.vfg_num;
}

void put_name(char (&to)[DSMI_VDEV_RES_NAME_LEN], const std::string& name) {
  std::memset(to, 0, sizeof to);
  std::copy_n(name.begin(), std::min(name.size(), sizeof to), to);
}

}  // namespace

void put_query(const driver::VirtualDevice& device, dsmi_vdev_query_stru& vdev) {
  auto& info = vdev.query_info;
  info = {};
  put_name(info.name, device.name);
  info.vfid = device.index;
  info.base.vfg_id = kNoVirtualGroup;
  if (const auto& group = device.group) {
    info.base.token = group->token;
    info.base.token_max = group->token_max;
    info.base.task_timeout = group->task_timeout_us;
    info.base.vfg_id = group->group;
    info.base.vip_mode = group->vip ? 1 : 0;
  }
  put_partition(device.partition, info);
}

void put_total(const std::vector<driver::VirtualDevice>& all, const CardPartition& totals,
               dsmi_soc_total_resource& resource) {
  resource = {};
  for (const auto& one : all) {
    if (resource.vdev_num < DSMI_SOC_SPLIT_MAX) resource.vdev_id[resource.vdev_num++] = one.id;
  }
  put_groups(all, resource);
  put_partition(totals, resource);
}

void put_free(const std::vector<driver::VirtualDevice>& all, const CardPartition& left,
              dsmi_soc_free_resource& resource) {
  resource = {};
  put_groups(all, resource);
  put_partition(left, resource);
}

}  // namespace npu::dsmi
