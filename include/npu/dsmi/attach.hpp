// SPDX-License-Identifier: Apache-2.0
// The cards of the functions in dsmi_common_interface.h and dcmi_interface_api.h, for programs that
// have opened these cards: on the simulator or through VFIO.
#pragma once

#include <memory>
#include <vector>

#include "dsmi/dsmi_common_interface.h"
#include "npu/base/result.hpp"
#include "npu/driver/management.hpp"
#include "npu/platform/time.hpp"

namespace npu::dsmi {

// Virtual devices of the cards, by device id. Each member returns 0 or a code of
// dsmi_common_interface.h, as the function of its name does. Pointers are never null.
class VirtualDevices {
 public:
  virtual ~VirtualDevices() = default;
  virtual int create(unsigned device, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
                     dsmi_create_vdev_result& result) = 0;
  // `vdev`: DSMI_VDEV_ALL for all devices of the card.
  virtual int destroy(unsigned device, unsigned vdev) = 0;
  virtual int query(unsigned device, dsmi_vdev_query_stru& vdev) = 0;
  virtual int total(unsigned device, dsmi_soc_total_resource& resource) = 0;
  virtual int free(unsigned device, dsmi_soc_free_resource& resource) = 0;

  // --- DSMI_ERROR_NOT_SUPPORT by default.
  // Busy time of the virtual device's AI Cores since the previous call for it, in percent.
  virtual int activity(unsigned device, unsigned vdev, unsigned& percent);
  // Whether the card has virtual functions; set_sriov() sets the maximum number or none.
  virtual int sriov(unsigned device, bool& on);
  virtual int set_sriov(unsigned device, bool on);
};

struct Machine {
  // Device id i is cards[i]; at most MAX_DEVICE_COUNT.
  std::vector<std::unique_ptr<driver::ManagementAccess>> cards;
  // For waits and locks of the callers: tasks of the simulator must not block its thread. Both
  // outlive the attachment.
  platform::Clock* clock = nullptr;
  platform::Tasks* tasks = nullptr;
  std::shared_ptr<VirtualDevices> virtual_devices;  // null: none
};

// Replaces the attached machine. No task may be inside a function of the library meanwhile.
// kInvalidArgument: no clock or tasks, or too many cards.
NPU_DSMI_API Status attach(Machine machine);
// Attaches the cards in `devices`, which this program drives, and their virtual devices. Devices
// and platform outlive the attachment.
NPU_DSMI_API Status attach(platform::Platform& platform,
                           const std::vector<driver::Device*>& devices);
// The same as npu_dsmi_detach().
NPU_DSMI_API void detach();

}  // namespace npu::dsmi
