// SPDX-License-Identifier: Apache-2.0
// Main commands about virtual devices.
#include <cmath>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/commands.hpp"
#include "apps/dsmi/virtual_facts.hpp"

namespace npu::dsmi {
namespace {

template <class Resource, class Ask>
int ask_devices(const Buffer& buffer, Ask ask) {
  if (*buffer.size < sizeof(Resource)) return DSMI_ERROR_PARAMETER;
  Resource resource{};
  std::memcpy(static_cast<void*>(&resource), buffer.data, sizeof resource);
  const int code = ask(resource);
  return code == DSMI_OK ? buffer.put(resource) : code;
}

// Of the tokens of the device's group; 1: it has cores of its own.
int part_of_group(VirtualDevices& devices, unsigned device, const dsmi_vdev_query_info& own,
                  const dsmi_soc_total_resource& total, double& part) {
  part = 1;
  if (own.base.vfg_id == kNoVirtualGroup) return DSMI_OK;
  unsigned long long sum = 0;
  for (unsigned i = 0; i < total.vdev_num; ++i) {
    dsmi_vdev_query_stru other{};
    other.vdev_id = total.vdev_id[i];
    if (const int code = devices.query(device, other); code != DSMI_OK) return code;
    if (other.query_info.base.vfg_id == own.base.vfg_id) sum += other.query_info.base.token;
  }
  if (sum != 0) part = static_cast<double>(own.base.token) / static_cast<double>(sum);
  return DSMI_OK;
}

int share_of_cores(VirtualDevices& devices, unsigned device, dsmi_soc_vdev_ratio& ratio) {
  dsmi_vdev_query_stru own{};
  dsmi_soc_total_resource total{};
  own.vdev_id = ratio.vdev_id;
  if (const int code = devices.query(device, own); code != DSMI_OK) return code;
  if (const int code = devices.total(device, total); code != DSMI_OK) return code;
  if (total.computing.aic <= 0) return DSMI_ERROR_NOT_SUPPORT;
  double part = 1;
  const int code = part_of_group(devices, device, own.query_info, total, part);
  if (code != DSMI_OK) return code;
  const auto cores = static_cast<double>(own.query_info.computing.aic);
  const auto all = static_cast<double>(total.computing.aic);
  ratio.ratio = static_cast<unsigned>(std::lround(100 * part * cores / all));
  return DSMI_OK;
}

int activity(VirtualDevices& devices, unsigned device, dsmi_vdev_query_stru& vdev) {
  unsigned percent = 0;
  if (const int code = devices.query(device, vdev); code != DSMI_OK) return code;
  const int code = devices.activity(device, vdev.vdev_id, percent);
  if (code == DSMI_OK) vdev.query_info.computing.vdev_aicore_utilization = percent;
  return code;
}

int sriov_switch(VirtualDevices& devices, unsigned device, const Buffer& buffer) {
  if (*buffer.size < sizeof(int)) return DSMI_ERROR_PARAMETER;
  bool on = false;
  const int code = devices.sriov(device, on);
  return code == DSMI_OK ? buffer.put(on ? 1 : 0) : code;
}

}  // namespace

int virtual_device_info(Session& session, unsigned device, unsigned sub_cmd, const Buffer& buffer) {
  auto* const devices = session.virtual_devices();
  if (devices == nullptr) return DSMI_ERROR_NOT_SUPPORT;
  switch (sub_cmd) {
    case DSMI_VMNG_SUB_CMD_GET_VDEV_RESOURCE:
      return ask_devices<dsmi_vdev_query_stru>(
          buffer, [&](auto& vdev) { return devices->query(device, vdev); });
    case DSMI_VMNG_SUB_CMD_GET_TOTAL_RESOURCE:
      return ask_devices<dsmi_soc_total_resource>(
          buffer, [&](auto& total) { return devices->total(device, total); });
    case DSMI_VMNG_SUB_CMD_GET_FREE_RESOURCE:
      return ask_devices<dsmi_soc_free_resource>(
          buffer, [&](auto& free) { return devices->free(device, free); });
    case DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH:
      return sriov_switch(*devices, device, buffer);
    case DSMI_VMNG_SUB_CMD_GET_TOPS_PERCENTAGE:
      return ask_devices<dsmi_soc_vdev_ratio>(
          buffer, [&](auto& ratio) { return share_of_cores(*devices, device, ratio); });
    case DSMI_VMNG_SUB_CMD_GET_VDEV_ACTIVITY:
      return ask_devices<dsmi_vdev_query_stru>(
          buffer, [&](auto& vdev) { return activity(*devices, device, vdev); });
    default:
      return DSMI_ERROR_NOT_SUPPORT;
  }
}

int set_virtual_device_info(Session& session, unsigned device, unsigned sub_cmd, const void* data,
                            unsigned size) {
  auto* const devices = session.virtual_devices();
  if (devices == nullptr || sub_cmd != DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH) {
    return DSMI_ERROR_NOT_SUPPORT;
  }
  int on = 0;
  if (size < sizeof on) return DSMI_ERROR_PARAMETER;
  std::memcpy(&on, data, sizeof on);
  return on == 0 || on == 1 ? devices->set_sriov(device, on == 1) : DSMI_ERROR_PARAMETER;
}

}  // namespace npu::dsmi
