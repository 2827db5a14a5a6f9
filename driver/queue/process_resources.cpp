// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/process_resources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/device/device_parts.hpp"
#include "driver/queue/signals_impl.hpp"

namespace npu::driver {

ProcessResources::ProcessResources(platform::Clock& clock, unsigned max_queues)
    : doorbells(clock, 0, std::min<std::uint32_t>(max_queues, abi::kQueueDoorbells)) {}

Status ProcessResources::open(Device& device, QueueManager& manager,
                              const ProcessOptions& options) {
  auto member = GroupMembership::enter(manager.groups(), options.group);
  if (!member) return forward_error(member);
  group = std::move(*member);
  auto made = device.create_address_space(options.process, options.quota, options.addresses);
  if (!made) return forward_error(made);
  space = std::move(*made);
  const auto new_pasid = manager.pasids().allocate();
  if (!new_pasid) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} PASIDs in use", manager.pasids().capacity()));
  }
  pasid = PooledId(manager.pasids(), *new_pasid);
  const auto new_page = manager.pages().allocate();
  if (!new_page) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} doorbell pages in use", manager.pages().capacity()));
  }
  page = PooledId(manager.pages(), *new_page);
  vector_number = manager.vector_number(pasid.value());
  const auto opened = manager.open_vector(vector_number);
  if (!opened) return forward_error(opened);
  vector = *opened;
  auto region = manager.map_doorbells(page.value());
  if (!region) return forward_error(region);
  doorbell_page = std::move(*region);
  heap = std::make_unique<QueueHeap>(manager.link(), DeviceParts::memory(device), *space);
  auto slots = make_signals(manager.link(), DeviceParts::adaptive(device).context_switch,
                            pasid.value(), *doorbell_page, vector, options.signals);
  if (!slots) return forward_error(slots);
  signals = std::move(*slots);
  vmid = space->vmid();
  return {};
}

Status ProcessResources::close(const CardLink& link) {
  signals.reset();
  Status status;
  if (heap && link.usable()) status = heap->close();
  heap.reset();
  doorbell_page.reset();
  page = {};
  pasid = {};
  group = {};
  if (space && link.usable()) {
    if (auto ok = space->close(); !ok && status) status = ok;
  }
  space.reset();
  return status;
}

}  // namespace npu::driver
