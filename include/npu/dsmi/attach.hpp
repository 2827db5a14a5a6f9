// SPDX-License-Identifier: Apache-2.0
// Which cards the functions of dsmi_common_interface.h and dcmi_interface_api.h speak of, for
// programs that have them at hand: on the simulator, or through VFIO.
#pragma once

#include <memory>
#include <vector>

#include "dsmi/dsmi_common_interface.h"
#include "npu/base/result.hpp"
#include "npu/driver/management.hpp"
#include "npu/platform/time.hpp"

namespace npu::dsmi {

// Virtual devices of the cards, by device id. Every member answers as the function of its name
// does: 0 or a code of dsmi_common_interface.h; pointers are never null.
class VirtualDevices {
 public:
  virtual ~VirtualDevices() = default;
  virtual int create(unsigned device, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
                     dsmi_create_vdev_result& result) = 0;
  // `vdev`: DSMI_VDEV_ALL for all of the card.
  virtual int destroy(unsigned device, unsigned vdev) = 0;
  virtual int query(unsigned device, dsmi_vdev_query_stru& vdev) = 0;
  virtual int total(unsigned device, dsmi_soc_total_resource& resource) = 0;
  virtual int free(unsigned device, dsmi_soc_free_resource& resource) = 0;

  // --- Where nothing else is said: DSMI_ERROR_NOT_SUPPORT.
  // Percent of the time, since the same was last asked, that the virtual device's AI Cores were in
  // use.
  virtual int activity(unsigned device, unsigned vdev, unsigned& percent);
  // Whether the card has virtual functions; with as many as it can have, or none.
  virtual int sriov(unsigned device, bool& on);
  virtual int set_sriov(unsigned device, bool on);
};

struct Machine {
  // Device id i is cards[i]; at most MAX_DEVICE_COUNT.
  std::vector<std::unique_ptr<driver::ManagementAccess>> cards;
  // What waiting and locking are on the machine that the callers run on: tasks of the simulator
  // must not block its thread. Both outlive the attachment.
  platform::Clock* clock = nullptr;
  platform::Tasks* tasks = nullptr;
  std::shared_ptr<VirtualDevices> virtual_devices;  // null: there are none
};

// In place of what was attached before. kInvalidArgument: no clock or tasks, or too many cards.
// Nobody may be inside a function of the library meanwhile.
NPU_DSMI_API Status attach(Machine machine);
// All cards of a platform: those in `devices`, which this program drives, by their drivers' books,
// and none else; virtual devices are those of their drivers. Devices and platform outlive the
// attachment.
NPU_DSMI_API Status attach(platform::Platform& platform,
                           const std::vector<driver::Device*>& devices);
// As npu_dsmi_detach().
NPU_DSMI_API void detach();

}  // namespace npu::dsmi
