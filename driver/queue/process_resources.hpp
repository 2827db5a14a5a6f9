// SPDX-License-Identifier: Apache-2.0
// What a process has of the card and the host, made in this order and given back in the reverse
// one.
#pragma once

#include "driver/queue/core_groups.hpp"
#include "driver/queue/queue_buffer.hpp"
#include "driver/queue/queue_manager.hpp"
#include "npu/driver/process.hpp"

namespace npu::driver {

struct ProcessResources {
  ProcessResources(platform::Clock& clock, unsigned max_queues);

  // What was made before an error is for close().
  Status open(Device& device, QueueManager& manager, const ProcessOptions& options);
  // All of it, whatever it says. May be called again.
  Status close(const CardLink& link);

  GroupMembership group;
  std::unique_ptr<AddressSpace> space;
  PooledId pasid, page;  // `page`: of doorbells
  unsigned vector_number = 0;
  platform::InterruptVector* vector = nullptr;
  std::unique_ptr<platform::MmioRegion> doorbell_page;
  std::unique_ptr<QueueHeap> heap;
  std::unique_ptr<Signals> signals;
  unsigned vmid = 0;
  SharedIdPool doorbells;  // in the page
};

}  // namespace npu::driver
