// SPDX-License-Identifier: Apache-2.0
// What works on an opened card above the device, such as its compute queues. The device stops it
// when it is shut down, and knows nothing else of it.
#pragma once

#include <memory>

#include "driver/support/spin_lock.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

class DeviceService {
 public:
  virtual ~DeviceService() = default;
  // The device is shut down.
  virtual void stop() = 0;
};

struct DeviceServices {
  explicit DeviceServices(platform::Tasks& tasks)
      : control(tasks.make_mutex()), opening(tasks.make_mutex()) {}

  // Null: no memory of the card is managed.
  std::shared_ptr<DeviceService> fault_service() const {
    const MutexHolder holder(*opening);
    return page_faults.lock();
  }

  // Streams, events and `queues` come and go under it. Taken behind the memory manager's.
  const std::unique_ptr<platform::Mutex> control;
  std::unique_ptr<DeviceService> queues;  // the QueueManager, from the first process context on
  // `page_faults` comes and goes under it.
  const std::unique_ptr<platform::Mutex> opening;
  std::weak_ptr<DeviceService> page_faults;  // the FaultService, while memory is managed
};

// Shared memory: a book of shares, which an address space tells of its end.
class SpaceObserver {
 public:
  virtual ~SpaceObserver() = default;
  // Not under a memory manager's mutex.
  virtual void forget(const AddressSpace::Impl& space) = 0;
};

}  // namespace npu::driver
