// SPDX-License-Identifier: Apache-2.0
// Copies of pages between host memory and device memory by device-local addresses, over a stream of
// the driver's own.
#pragma once

#include <optional>

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
  // `memory`: device-local. Returns when the bytes are there. What the wait reports.
  Status to_card(platform::BusAddress host, std::uint64_t memory, Bytes size) {
    return run(DmaCommand::host_to_device(host, DeviceAddress{memory}, size));
  }
  Status to_host(std::uint64_t memory, platform::BusAddress host, Bytes size) {
    return run(DmaCommand::device_to_host(DeviceAddress{memory}, host, size));
  }

 private:
  Status run(const DmaCommand& command);

  Device::Impl& device_;
  std::optional<StreamId> stream_;
};

}  // namespace npu::driver
