// SPDX-License-Identifier: Apache-2.0
// Device memory that a step holds, and the refusal of more.
#pragma once

#include <vector>

#include "npu/driver/device.hpp"

namespace npu::demo {

// Frees what was allocated, whichever way the step ends.
class HeldMemory {
 public:
  explicit HeldMemory(driver::Device& device) : device_(device) {}
  ~HeldMemory() { static_cast<void>(release()); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  Result<driver::DeviceMemory> allocate(Bytes size);
  Status release();

 private:
  driver::Device& device_;
  std::vector<driver::DeviceAddress> held_;
};

// kBadDevice unless `size` bytes are refused for want of memory.
Status expect_refused(HeldMemory& held, Bytes size);

}  // namespace npu::demo
