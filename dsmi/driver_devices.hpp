// SPDX-License-Identifier: Apache-2.0
// Virtual devices of cards that this program drives: npu/driver/virtual_functions.hpp in the
// structures of dsmi_common_interface.h. Not locked: calls come one at a time.
#pragma once

#include <memory>
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

 private:
  // kUnsupported: the card cannot be divided.
  Result<driver::VirtualFunctions*> functions_of(unsigned device);
  Result<driver::VirtualDevice> find(unsigned device, unsigned vdev);

  std::vector<driver::Device*> devices_;
  std::vector<std::unique_ptr<driver::VirtualFunctions>> functions_;  // opened at first use
};

}  // namespace npu::dsmi
