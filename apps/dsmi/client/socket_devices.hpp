// SPDX-License-Identifier: Apache-2.0
// Virtual devices of the cards behind a management socket: listed without a trace, made and ended
// by the server, through the card's driver.
#pragma once

#include <memory>
#include <vector>

#include "apps/dsmi/client/socket_channel.hpp"
#include "npu/driver/virtual_functions.hpp"
#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

class SocketDevices : public VirtualDevices {
 public:
  explicit SocketDevices(std::shared_ptr<SocketChannel> channel) : channel_(std::move(channel)) {}

  // By templates alone, without groups: DSMI_ERROR_NOT_SUPPORT otherwise. DSMI_ERROR_BUSY: a client
  // of the server has the card.
  int create(unsigned device, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
             dsmi_create_vdev_result& result) override;
  int destroy(unsigned device, unsigned vdev) override;
  int query(unsigned device, dsmi_vdev_query_stru& vdev) override;
  int total(unsigned device, dsmi_soc_total_resource& resource) override;
  int free(unsigned device, dsmi_soc_free_resource& resource) override;

 private:
  std::uint64_t field(unsigned device, std::uint64_t function, PartitionField field);
  driver::CardPartition partition(unsigned device, std::uint64_t function);
  driver::VirtualDevice describe(unsigned device, unsigned function);
  // False: the card cannot be divided, or the server is gone.
  bool list(unsigned device, std::vector<driver::VirtualDevice>& all);

  std::shared_ptr<SocketChannel> channel_;
};

}  // namespace npu::dsmi
