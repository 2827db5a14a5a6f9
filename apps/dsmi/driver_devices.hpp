// SPDX-License-Identifier: Apache-2.0
// Virtual devices of cards that this program drives: npu/driver/virtual_functions.hpp in the
// structures of dsmi_common_interface.h. Not locked: calls come one at a time.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "npu/driver/virtual_functions.hpp"
#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

class DriverDevices : public VirtualDevices {
 public:
  // Device id i is devices[i]; they outlive it.
  explicit DriverDevices(std::vector<driver::Device*> devices);

  // Switches SR-IOV on with all functions if it is off. `vdev`: an id, or ~0: the card chooses. A
  // group where `resource.base.token` is not 0.
  int create(unsigned device, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
             dsmi_create_vdev_result& result) override;
  int destroy(unsigned device, unsigned vdev) override;
  int query(unsigned device, dsmi_vdev_query_stru& vdev) override;
  int total(unsigned device, dsmi_soc_total_resource& resource) override;
  int free(unsigned device, dsmi_soc_free_resource& resource) override;
  int activity(unsigned device, unsigned vdev, unsigned& percent) override;
  int sriov(unsigned device, bool& on) override;
  // DSMI_ERROR_BUSY: there are virtual devices.
  int set_sriov(unsigned device, bool on) override;

 private:
  // kUnsupported: the card cannot be divided.
  Result<driver::VirtualFunctions*> functions_of(unsigned device);
  Result<driver::VirtualDevice> find(unsigned device, unsigned vdev);

  struct Meter {
    std::unique_ptr<driver::ManagementAccess> access;
    std::unique_ptr<driver::Management> management;
  };

  std::vector<driver::Device*> devices_;
  std::map<std::pair<unsigned, unsigned>, Meter> meters_;  // by device and virtual device
  std::vector<std::unique_ptr<driver::VirtualFunctions>> functions_;  // opened at first use
};

}  // namespace npu::dsmi
