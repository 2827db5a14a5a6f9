// SPDX-License-Identifier: Apache-2.0
// What a client's messages mean: one session per connection, no sockets here.
#pragma once

#include "model/host/vfio_user/dma_table.hpp"
#include "model/host/vfio_user/framing.hpp"
#include "model/host/vfio_user/interrupts.hpp"
#include "model/host/vfio_user/negotiation.hpp"
#include "model/host/vfio_user/served_device.hpp"

namespace npu::model::vfio_user {

class Session {
 public:
  explicit Session(ServedDevice& device);
  // Takes mappings and triggers back and tells the device that the client has gone.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Carries a command out and appends the payload of the reply. 0 or the errno of an error reply.
  //  EINVAL      anything malformed or out of range, a command of the other direction
  //  EOPNOTSUPP  unknown, or not negotiated, or optional and not offered (features, migration)
  //  others      DmaTable, and what ServedDevice::read and ServedDevice::write return
  int handle(Message& message, Outbox& reply);

  bool negotiated() const { return negotiated_; }
  // The session must end: no VERSION came first, or the client has truncated mapped memory.
  bool failed() const { return failed_ || dma_.lost(); }

 private:
  int version(const Message& message, Outbox& reply);
  int dispatch(Message& message, Outbox& reply);
  int dma_map(const Message& message);
  int dma_unmap(const Message& message, Outbox& reply);
  int get_info(const Message& message, Outbox& reply);
  int get_region_info(const Message& message, Outbox& reply);
  int get_region_io_fds(const Message& message, Outbox& reply);
  int get_irq_info(const Message& message, Outbox& reply);
  int region_read(const Message& message, Outbox& reply);
  int region_write(const Message& message, Outbox& reply);
  int region_write_multi(const Message& message, Outbox& reply);
  int check_access(const RegionAccess& access) const;

  ServedDevice& device_;
  Interrupts interrupts_;
  DmaTable dma_;
  Agreement agreement_;
  bool negotiated_ = false;
  bool failed_ = false;
};

}  // namespace npu::model::vfio_user
