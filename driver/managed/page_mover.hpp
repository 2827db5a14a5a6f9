// SPDX-License-Identifier: Apache-2.0
// Copies of pages between host memory and device memory by device-local addresses, over a stream of
// the driver's own.
#pragma once

#include <optional>
#include <vector>

#include "driver/device/device_impl.hpp"

namespace npu::driver {

class PageMover {
 public:
  explicit PageMover(Device::Impl& device) : device_(device) {}
  ~PageMover() { close(); }
  PageMover(const PageMover&) = delete;
  PageMover& operator=(const PageMover&) = delete;

  // kOutOfResources: no stream left.
  Status open();
  void close();
  // `memory`: device-local. Begins a copy, behind those before.
  Status to_card(platform::BusAddress host, std::uint64_t memory, Bytes size) {
    return submit(DmaCommand::host_to_device(host, DeviceAddress{memory}, size));
  }
  Status to_host(std::uint64_t memory, platform::BusAddress host, Bytes size) {
    return submit(DmaCommand::device_to_host(DeviceAddress{memory}, host, size));
  }
  // Returns when all that has begun is there. What the first wait that failed reports.
  Status wait();

 private:
  Status submit(const DmaCommand& command);

  Device::Impl& device_;
  std::optional<StreamId> stream_;
  std::vector<Ticket> begun_;  // and not waited for
};

}  // namespace npu::driver
