// SPDX-License-Identifier: Apache-2.0
// The parts of an opened card.
#pragma once

#include <memory>

#include "driver/device/device_parts.hpp"
#include "driver/dma/dma_queue.hpp"
#include "driver/event/event_table.hpp"
#include "driver/pci/config_space.hpp"
#include "driver/stream/stream_table.hpp"
#include "driver/stream/waiter.hpp"

namespace npu::driver {

struct Device::Impl {
  Impl(platform::Platform& host, const DeviceOptions& opened_with)
      : platform(host), options(opened_with), services(host.tasks()) {}

  platform::Platform& platform;
  const DeviceOptions options;
  CardInfo card;
  const CardFeatures features{options.features, card};
  std::uint16_t original_command = 0;
  bool command_changed = false;
  bool pages_isolated = false;  // so the card said at opening
  bool found_left = false;      // at opening: what a driver that is gone has not given back
  // In the order in which they are made; each may use those before it.
  std::unique_ptr<CardLink> link;
  std::unique_ptr<EventTable> events;
  std::unique_ptr<DmaQueue> queue;
  std::unique_ptr<VectorTable> vectors;
  std::unique_ptr<Waiter> waiter;
  std::unique_ptr<StreamTable> streams;
  std::unique_ptr<MemoryManager> memory;
  std::unique_ptr<AddressSpace> default_space;
  std::unique_ptr<Compactor> compactor;
  DeviceServices services;
};

// Runs the steps of initialisation; the error names the step that failed.
Status initialise(Device::Impl& device, platform::Bdf bdf);
// Gives the function's COMMAND register back as it was found and turns MSI-X off.
void restore_function(Device::Impl& device);

}  // namespace npu::driver
