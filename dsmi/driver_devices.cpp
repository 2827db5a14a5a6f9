// SPDX-License-Identifier: Apache-2.0
#include "dsmi/driver_devices.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "dsmi/call.hpp"

namespace npu::dsmi {

using driver::CardShare;

namespace {

constexpr unsigned kChoose = ~0U;
constexpr unsigned kFirstId = 100, kIdsPerCard = 16;  // virtualisation.md V3
constexpr unsigned kNoGroup = ~0U;

// Amounts come as floats; a part of a unit is none.
std::uint32_t count_of(float amount) {
  return amount > 0 && amount < 65536 ? static_cast<std::uint32_t>(amount) : 0;
}

CardShare share_of(const dsmi_create_vdev_res_stru& wanted) {
  CardShare share;
  share.ai_cores = count_of(wanted.computing.aic);
  share.aicpus = wanted.computing.device_aicpu;
  share.memory = wanted.computing.memory_size << 20;
  share.vpc = count_of(wanted.media.vpc);
  share.jpegd = count_of(wanted.media.jpegd);
  share.jpege = count_of(wanted.media.jpege);
  share.venc = count_of(wanted.media.venc);
  share.vdec = count_of(wanted.media.vdec);
  return share;
}

template <class Resource>
void put_share(const CardShare& share, Resource& to) {
  to.computing.aic = static_cast<float>(share.ai_cores);
  to.computing.device_aicpu = static_cast<unsigned short>(share.aicpus);
  to.computing.memory_size = share.memory >> 20;
  to.media.vpc = static_cast<float>(share.vpc);
  to.media.jpegd = static_cast<float>(share.jpegd);
  to.media.jpege = static_cast<float>(share.jpege);
  to.media.venc = static_cast<float>(share.venc);
  to.media.vdec = static_cast<float>(share.vdec);
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

DriverDevices::DriverDevices(std::vector<driver::Device*> devices)
    : devices_(std::move(devices)), functions_(devices_.size()) {}

Result<driver::VirtualFunctions*> DriverDevices::functions_of(unsigned device) {
  auto& functions = functions_[device];
  if (!functions) {
    auto opened = driver::VirtualFunctions::open(*devices_[device]);
    if (!opened) return forward_error(opened);
    functions = std::move(*opened);
  }
  return functions.get();
}

Result<driver::VirtualDevice> DriverDevices::find(unsigned device, unsigned vdev) {
  const auto functions = functions_of(device);
  if (!functions) return forward_error(functions);
  const auto all = (*functions)->list();
  if (!all) return forward_error(all);
  for (const auto& one : *all) {
    if (one.id == vdev) return one;
  }
  return fail(ErrorCode::kNotFound, "no virtual device of that number");
}

int DriverDevices::create(unsigned device, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
                          dsmi_create_vdev_result& result) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  driver::VirtualDeviceOptions options;
  options.name.assign(resource.name, strnlen(resource.name, sizeof resource.name));
  if (options.name.empty()) options.share = share_of(resource);
  if (vdev != kChoose) {
    const unsigned first = kFirstId + kIdsPerCard * device;
    if (vdev < first || vdev - first >= kIdsPerCard) return DSMI_ERROR_PARAMETER;
    options.index = vdev - first;
  }
  const auto& base = resource.base;
  if (base.token != 0) {
    if (base.token > ~0U || base.token_max > ~0U || base.task_timeout > ~0U) {
      return DSMI_ERROR_PARAMETER;
    }
    options.group =
        driver::GroupShare{base.vfg_id, static_cast<std::uint32_t>(base.token),
                           static_cast<std::uint32_t>(base.token_max),
                           static_cast<std::uint32_t>(base.task_timeout), base.vip_mode != 0};
  }
  const auto count = (*functions)->count();
  if (!count) return code_of(count.error());
  if (*count == 0) {
    if (auto on = (*functions)->set_count((*functions)->total()); !on) return code_of(on.error());
  }
  const auto made = (*functions)->create(options);
  if (!made) return code_of(made.error());
  result = {};
  result.vdev_id = made->id;
  result.vf_id = made->index;
  result.vfg_id = made->group ? made->group->group : kNoGroup;
  if (made->bdf) {
    result.pcie_bus = made->bdf->bus;
    result.pcie_device = made->bdf->device;
    result.pcie_func = made->bdf->function;
  }
  return DSMI_OK;
}

int DriverDevices::destroy(unsigned device, unsigned vdev) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  if (vdev == DSMI_VDEV_ALL) return give((*functions)->destroy_all());
  const auto found = find(device, vdev);
  if (!found) return code_of(found.error());
  return give((*functions)->destroy(found->index));
}

int DriverDevices::query(unsigned device, dsmi_vdev_query_stru& vdev) {
  const auto found = find(device, vdev.vdev_id);
  if (!found) return code_of(found.error());
  auto& info = vdev.query_info;
  info = {};
  put_name(info.name, found->name);
  info.vfid = found->index;
  info.base.vfg_id = kNoGroup;
  if (const auto& group = found->group) {
    info.base.token = group->token;
    info.base.token_max = group->token_max;
    info.base.task_timeout = group->task_timeout_us;
    info.base.vfg_id = group->group;
    info.base.vip_mode = group->vip ? 1 : 0;
  }
  put_share(found->share, info);
  return DSMI_OK;
}

int DriverDevices::total(unsigned device, dsmi_soc_total_resource& resource) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  const auto all = (*functions)->list();
  if (!all) return code_of(all.error());
  resource = {};
  for (const auto& one : *all) {
    if (resource.vdev_num < DSMI_SOC_SPLIT_MAX) resource.vdev_id[resource.vdev_num++] = one.id;
  }
  put_groups(*all, resource);
  put_share((*functions)->totals(), resource);
  return DSMI_OK;
}

int DriverDevices::free(unsigned device, dsmi_soc_free_resource& resource) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  const auto all = (*functions)->list();
  if (!all) return code_of(all.error());
  const auto share = (*functions)->free_share();
  if (!share) return code_of(share.error());
  resource = {};
  put_groups(*all, resource);
  put_share(*share, resource);
  return DSMI_OK;
}

}  // namespace npu::dsmi
