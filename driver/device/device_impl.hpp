// SPDX-License-Identifier: Apache-2.0
// The parts of an opened card.
#pragma once

#include <atomic>
#include <memory>

#include "driver/device/card_link.hpp"
#include "driver/dma/dma_queue.hpp"
#include "driver/event/event_table.hpp"
#include "driver/event/waiter.hpp"
#include "driver/memory/compactor.hpp"
#include "driver/memory/memory_manager.hpp"
#include "driver/memory/peer_gate.hpp"
#include "driver/pci/config_space.hpp"
#include "driver/queue/queue_manager.hpp"
#include "driver/stream/stream_table.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/driver/device.hpp"

namespace npu::driver {

class FaultService;

struct Device::Impl {
  Impl(platform::Platform& host, const DeviceOptions& opened_with)
      : platform(host),
        options(opened_with),
        control(host.tasks().make_mutex()),
        managed(host.tasks().make_mutex()) {}

  // kInvalidArgument after shutdown(), kDeviceLost after the card went away.
  Status usable() const;
  // kUnsupported: `what` is switched off.
  Status has(bool DeviceFeatures::*feature, const char* what) const;
  // Null: none yet. What there is stays until the device is gone.
  QueueManager* queue_manager() const;
  // Null: none.
  std::shared_ptr<FaultService> fault_service() const;
  Instant ready_deadline() { return platform.clock().now() + options.ready_timeout; }

  platform::Platform& platform;
  const DeviceOptions options;
  CardInfo card;
  std::uint16_t original_command = 0;
  bool command_changed = false;
  bool pages_isolated = false;  // so the card said at opening
  bool found_left = false;      // at opening: what a driver that is gone has not given back
  // In the order in which they are made; each may use those before it.
  std::unique_ptr<CardLink> link;
  std::shared_ptr<PeerGate> peers;  // leases have it, too
  std::unique_ptr<EventTable> events;
  std::unique_ptr<DmaQueue> queue;
  std::unique_ptr<VectorTable> vectors;
  std::unique_ptr<Waiter> waiter;
  std::unique_ptr<StreamTable> streams;
  std::unique_ptr<MemoryManager> memory;
  std::unique_ptr<AddressSpace> default_space;
  std::unique_ptr<Compactor> compactor;
  std::unique_ptr<platform::Mutex> control;  // creating and destroying streams and events
  std::unique_ptr<QueueManager> queues;      // from the first process context on
  std::unique_ptr<platform::Mutex> managed;  // opening of managed memory
  std::weak_ptr<FaultService> page_faults;   // as long as there is managed memory
  std::atomic<bool> closed{false};
};

// Runs the steps of initialisation; the error names the step that failed.
Status initialise(Device::Impl& device, platform::Bdf bdf);
// Gives the function's COMMAND register back as it was found and turns MSI-X off.
void restore_function(Device::Impl& device);

}  // namespace npu::driver
