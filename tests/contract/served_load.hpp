// SPDX-License-Identifier: Apache-2.0
// Work for a function behind a vfio-user socket: a process of its own, whose queue copies there and
// back, and the bytes are looked at.
#pragma once

#include <memory>

#include "npu/driver/device.hpp"
#include "npu/driver/process.hpp"
#include "tests/contract/vfio_user_platform.hpp"

namespace npu::test {

class ServedLoad {
 public:
  static constexpr Bytes kBytes = 256_KiB;

  // Opens the function. `client` has negotiated.
  static Result<std::unique_ptr<ServedLoad>> open(vfio_user::Client client);

  // A pattern goes to the card and comes back. kIo: other bytes came; errors of the driver.
  Status round(std::uint32_t pattern);
  // What the pattern's copy on the card is now.
  Result<bool> still_has(std::uint32_t pattern);
  VfioUserPlatform& platform() { return platform_; }

 private:
  explicit ServedLoad(vfio_user::Client client) : platform_(std::move(client)) {}
  Status set_up();
  Status run(const abi::QueueEntry& entry);

  VfioUserPlatform platform_;
  std::unique_ptr<driver::Device> device_;
  std::unique_ptr<driver::ProcessContext> process_;
  std::unique_ptr<driver::Queue> queue_;
  std::unique_ptr<platform::DmaMemory> there_, back_;
  driver::DeviceAddress memory_{};
};

}  // namespace npu::test
