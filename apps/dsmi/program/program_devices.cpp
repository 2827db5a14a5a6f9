// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/program/program_devices.hpp"

#include <cstring>

#include "apps/dsmi/program/program_calls.hpp"

namespace npu::dsmi {
namespace {

using compat::VirtualRequest;

// With `in`, for an answer that is `out`.
template <class In, class Out>
int ask(VirtualRequest request, unsigned device, unsigned vdev, const In& in, Out& out) {
  auto* const channel = compat::channel_of_this_thread();
  if (channel == nullptr) return DSMI_ERROR_INVALID_DEVICE;
  std::memcpy(channel->window(), &in, sizeof in);
  const auto done = ask_npusim<compat::Call::kManageVirtual>({device, request, vdev}, sizeof in);
  if (!done) {
    return done.error().code == ErrorCode::kUnsupported ? DSMI_ERROR_NOT_SUPPORT
                                                        : DSMI_ERROR_INVALID_DEVICE;
  }
  const int code = static_cast<int>(done->number);
  if (code == DSMI_OK) std::memcpy(static_cast<void*>(&out), channel->window(), sizeof out);
  return code;
}

}  // namespace

int ProgramDevices::create(unsigned device, unsigned vdev,
                           const dsmi_create_vdev_res_stru& resource,
                           dsmi_create_vdev_result& result) {
  return ask(VirtualRequest::kCreate, device, vdev, resource, result);
}

int ProgramDevices::destroy(unsigned device, unsigned vdev) {
  char nothing = 0;
  return ask(VirtualRequest::kDestroy, device, vdev, nothing, nothing);
}

int ProgramDevices::query(unsigned device, dsmi_vdev_query_stru& vdev) {
  return ask(VirtualRequest::kQuery, device, vdev.vdev_id, vdev, vdev);
}

int ProgramDevices::total(unsigned device, dsmi_soc_total_resource& resource) {
  return ask(VirtualRequest::kTotal, device, 0, resource, resource);
}

int ProgramDevices::free(unsigned device, dsmi_soc_free_resource& resource) {
  return ask(VirtualRequest::kFree, device, 0, resource, resource);
}

int ProgramDevices::activity(unsigned device, unsigned vdev, unsigned& percent) {
  return ask(VirtualRequest::kActivity, device, vdev, percent, percent);
}

int ProgramDevices::sriov(unsigned device, bool& on) {
  unsigned is_on = 0;
  const int code = ask(VirtualRequest::kSwitch, device, 0, is_on, is_on);
  if (code == DSMI_OK) on = is_on != 0;
  return code;
}

int ProgramDevices::set_sriov(unsigned device, bool on) {
  unsigned nothing = 0;
  return ask(VirtualRequest::kSetSwitch, device, on ? 1U : 0U, nothing, nothing);
}

}  // namespace npu::dsmi
