// SPDX-License-Identifier: Apache-2.0
// A part of the driver that works on an opened card, such as its compute queues. The device stops
// it when it is shut down, and knows nothing else of it.
#pragma once

#include "npu/driver/address_space.hpp"

namespace npu::driver {

class DeviceService {
 public:
  virtual ~DeviceService() = default;
  // The device is shut down.
  virtual void stop() = 0;
};

// Shared memory: a book of shares, which an address space tells of its end.
class SpaceObserver {
 public:
  virtual ~SpaceObserver() = default;
  // Not under a memory manager's mutex.
  virtual void forget(const AddressSpace::Impl& space) = 0;
};

}  // namespace npu::driver
