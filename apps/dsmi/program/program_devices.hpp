// SPDX-License-Identifier: Apache-2.0
// Virtual devices of the cards of the npusim that has started this program.
#pragma once

#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

class ProgramDevices : public VirtualDevices {
 public:
  int create(unsigned device, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
             dsmi_create_vdev_result& result) override;
  int destroy(unsigned device, unsigned vdev) override;
  int query(unsigned device, dsmi_vdev_query_stru& vdev) override;
  int total(unsigned device, dsmi_soc_total_resource& resource) override;
  int free(unsigned device, dsmi_soc_free_resource& resource) override;
  int activity(unsigned device, unsigned vdev, unsigned& percent) override;
  int sriov(unsigned device, bool& on) override;
  int set_sriov(unsigned device, bool on) override;
};

}  // namespace npu::dsmi
