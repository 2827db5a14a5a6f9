// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/driver_devices.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/virtual_facts.hpp"

namespace npu::dsmi {

using driver::CardPartition;

namespace {

constexpr unsigned kChoose = ~0U;

constexpr unsigned kMibShift = 20;

// Amounts come as floats; a part of a unit is none.
bool is_amount(float amount) {
  return amount >= 0 && amount < 65536;
}

std::uint32_t count_of(float amount) {
  return static_cast<std::uint32_t>(amount);
}

// None: an amount that cannot be.
std::optional<CardPartition> partition_of(const dsmi_create_vdev_res_stru& wanted) {
  const auto& media = wanted.media;
  const auto& computing = wanted.computing;
  const float amounts[] = {computing.aic, media.vpc,  media.jpegd,
                           media.jpege,   media.venc, media.vdec};
  if (!std::all_of(std::begin(amounts), std::end(amounts), is_amount)) return std::nullopt;
  if (computing.memory_size > ~Bytes{0} >> kMibShift) return std::nullopt;
  CardPartition partition;
  partition.ai_cores = count_of(computing.aic);
  partition.aicpus = computing.device_aicpu;
  partition.memory = computing.memory_size << kMibShift;
  partition.vpc = count_of(media.vpc);
  partition.jpegd = count_of(media.jpegd);
  partition.jpege = count_of(media.jpege);
  partition.venc = count_of(media.venc);
  partition.vdec = count_of(media.vdec);
  return partition;
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
  if (options.name.empty()) {
    const auto partition = partition_of(resource);
    if (!partition) return DSMI_ERROR_PARAMETER;
    options.partition = *partition;
  }
  if (vdev != kChoose) {
    const unsigned first = kFirstVirtualId + kVirtualIdsPerCard * device;
    if (vdev < first || vdev - first >= kVirtualIdsPerCard) return DSMI_ERROR_PARAMETER;
    options.index = vdev - first;
  }
  const auto& base = resource.base;
  if (base.token != 0) {
    if (base.token > ~0U || base.token_max > ~0U || base.task_timeout > ~0U) {
      return DSMI_ERROR_PARAMETER;
    }
    options.group =
        driver::GroupPartition{base.vfg_id, static_cast<std::uint32_t>(base.token),
                               static_cast<std::uint32_t>(base.token_max),
                               static_cast<std::uint32_t>(base.task_timeout), base.vip_mode != 0};
  }
  const auto count = (*functions)->count();
  if (!count) return code_of(count.error());
  if (*count == 0) {
    if (auto on = (*functions)->set_count((*functions)->total()); !on) return code_of(on.error());
  }
  const auto made = (*functions)->create(options);
  if (!made) {
    // As it was before.
    if (*count == 0) static_cast<void>((*functions)->set_count(0));
    return code_of(made.error());
  }
  result = {};
  result.vdev_id = made->id;
  result.vf_id = made->index;
  result.vfg_id = made->group ? made->group->group : kNoVirtualGroup;
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
  if (vdev == DSMI_VDEV_ALL) {
    meters_.clear();
    return give((*functions)->destroy_all());
  }
  meters_.erase({device, vdev});
  const auto found = find(device, vdev);
  if (!found) return code_of(found.error());
  return give((*functions)->destroy(found->index));
}

int DriverDevices::query(unsigned device, dsmi_vdev_query_stru& vdev) {
  const auto found = find(device, vdev.vdev_id);
  if (!found) return code_of(found.error());
  put_query(*found, vdev);
  return DSMI_OK;
}

int DriverDevices::total(unsigned device, dsmi_soc_total_resource& resource) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  const auto all = (*functions)->list();
  if (!all) return code_of(all.error());
  put_total(*all, (*functions)->totals(), resource);
  return DSMI_OK;
}

int DriverDevices::free(unsigned device, dsmi_soc_free_resource& resource) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  const auto all = (*functions)->list();
  if (!all) return code_of(all.error());
  const auto partition = (*functions)->free_partition();
  if (!partition) return code_of(partition.error());
  put_free(*all, *partition, resource);
  return DSMI_OK;
}

// By the registers of its function, which are read over the link as any others.
int DriverDevices::activity(unsigned device, unsigned vdev, unsigned& percent) {
  const auto found = find(device, vdev);
  if (!found) return code_of(found.error());
  if (!found->bdf) return DSMI_ERROR_NOT_SUPPORT;
  auto& meter = meters_[{device, vdev}];
  if (meter.access == nullptr) {
    auto access = driver::observe_virtual(*devices_[device], *found->bdf);
    if (!access) return code_of(access.error());
    meter.access = std::move(*access);
    meter.management = std::make_unique<driver::Management>(*meter.access);
  }
  return give(meter.management->core_use(driver::CoreKind::kAll),
              [&](driver::Percent busy) { percent = busy; });
}

int DriverDevices::sriov(unsigned device, bool& on) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  return give((*functions)->count(), [&](std::uint32_t count) { on = count != 0; });
}

int DriverDevices::set_sriov(unsigned device, bool on) {
  const auto functions = functions_of(device);
  if (!functions) return code_of(functions.error());
  const auto count = (*functions)->count();
  if (!count) return code_of(count.error());
  if ((*count != 0) == on) return DSMI_OK;
  return give((*functions)->set_count(on ? (*functions)->total() : 0));
}

}  // namespace npu::dsmi
