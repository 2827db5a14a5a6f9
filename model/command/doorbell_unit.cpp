// SPDX-License-Identifier: Apache-2.0
#include "model/command/doorbell_unit.hpp"

#include <cstring>

#include "model/command/fault_log.hpp"
#include "model/command/queue_slot.hpp"
#include "model/command/scheduler.hpp"
#include "model/command/signal_unit.hpp"
#include "model/core/work_watch.hpp"

namespace npu::model {

using abi::FaultCode;

namespace {

// Of a handler: which queue, and since which reset it counts.
constexpr std::uint64_t packed(std::uint32_t epoch, std::uint64_t low) {
  return std::uint64_t{epoch} << 32 | low;
}

}  // namespace

bool DoorbellUnit::write(std::uint64_t offset, const unsigned char* data, std::size_t length) {
  Target target{offset / abi::kDoorbellPageSize,
                offset % abi::kDoorbellPageSize / abi::kDoorbellSize, length == 4, 0};
  const bool valid = (length == 4 || length == 8) && offset % length == 0;
  if (valid) std::memcpy(&target.value, data, length);
  // The high half of a doorbell that comes in two: the low one says all.
  if (valid && length == 4 && offset % 8 == 4) return true;
  ++shared_.statistics.doorbells;
  auto* process = function_.table.process_of_page(target.page);
  auto* queue = valid && process != nullptr ? function_.table.by_doorbell(*process, target.doorbell)
                                            : nullptr;
  if (queue != nullptr) {
    ring(*process, *queue, target);
  } else if (valid && process != nullptr && target.doorbell == abi::kSignalDoorbell) {
    shared_.sim.agenda.at<&DoorbellUnit::signal_decoded>(
        sim_now() + ticks(shared_.config.command.doorbell_decode), *this,
        packed(function_.epoch, target.page << 16 | (target.value & 0xFFFF)));
  } else {
    stray(target, process);
  }
  return valid;
}

void DoorbellUnit::tell(const Target& target, const HardwareQueue& queue,
                        std::uint64_t index) const {
  WorkWatch::Doorbell told;
  told.device = function_.registers.device_index();
  told.function = function_.number;
  told.page = target.page;
  told.bell = target.doorbell;
  told.value = target.value;
  told.queue = queue.mqd.queue_id;
  told.last = index - 1;
  detail::work_watch->rung(told);
}

void DoorbellUnit::ring(Process&, HardwareQueue& queue, const Target& target) {
  const std::uint64_t last = queue.write_index();
  const std::uint64_t index =
      target.short_value ? abi::extend_index(last, static_cast<std::uint32_t>(target.value))
                         : target.value;
  ++queue.mqd.doorbells;
  if (queue.faulted || index == last) return;
  if (detail::work_watch != nullptr && index > last) tell(target, queue, index);
  if (index < last) return impossible(queue, FaultCode::kIndexBackwards, target.value);
  if (index - queue.mqd.read_index > queue.ring_size()) {
    return impossible(queue, FaultCode::kIndexBeyondRing, target.value);
  }
  queue.told = index;
  if (queue.doorbell_pending) return;
  queue.doorbell_pending = true;
  queue.doorbell_time = sim_now();
  shared_.sim.agenda.at<&DoorbellUnit::decoded>(
      sim_now() + ticks(shared_.config.command.doorbell_decode), *this,
      packed(function_.epoch, queue.mqd.queue_id));
}

void DoorbellUnit::decoded(std::uint64_t argument) {
  auto* queue = function_.table.queue(static_cast<std::uint32_t>(argument));
  if (argument >> 32 != function_.epoch || queue == nullptr || !queue->doorbell_pending) return;
  queue->doorbell_pending = false;
  shared_.sim.emit(shared_.track, platform::Activity::kQueueDoorbell, queue->doorbell_time,
                   sim_now(), function_.cause(*queue, queue->told - 1), 0, queue->mqd.queue_id);
  shared_.scheduler->consider(*queue);
}

void DoorbellUnit::signal_decoded(std::uint64_t argument) {
  if (argument >> 32 != function_.epoch) return;
  auto* process = function_.table.process_of_page((argument & 0xFFFF'FFFF) >> 16);
  if (process == nullptr) return;
  const std::uint64_t value = argument & 0xFFFF;
  if (detail::work_watch != nullptr) {
    detail::work_watch->released(
        function_.registers.device_index(), function_.space(process->vmid),
        static_cast<std::uint32_t>(value & ~std::uint64_t{abi::kSignalWakesHost}));
  }
  shared_.signals->doorbell(*process, value & ~std::uint64_t{abi::kSignalWakesHost});
  if ((value & abi::kSignalWakesHost) != 0) function_.raise(process->vector, 0);
}

// Nobody's, but whoever can write to the page is its process.
void DoorbellUnit::stray(const Target& target, const Process* process) {
  abi::QueueFaultRecord record;
  record.code = static_cast<std::uint16_t>(FaultCode::kDoorbellUnowned);
  record.address = target.value;
  record.queue = abi::kNoQueue;
  record.page = static_cast<std::uint16_t>(target.page);
  record.doorbell = static_cast<std::uint16_t>(target.doorbell);
  record.write = 1;
  if (process == nullptr) return function_.faults->stray(record);
  record.pasid = process->pasid;
  record.vmid = process->vmid;
  function_.faults->record(record, process->vector, 0);
}

void DoorbellUnit::host_write_lost(std::uint64_t address) {
  function_.table.for_each([this, address](HardwareQueue& queue) {
    if (!queue.faulted) impossible(queue, FaultCode::kHostWriteLost, address);
  });
}

// A queue in a slot stops as for any fault; another one has nothing that runs.
void DoorbellUnit::impossible(HardwareQueue& queue, FaultCode code, std::uint64_t value) {
  shared_.scheduler->withdraw(queue);
  function_.faults->queue_fault(queue, {code, value, queue.mqd.vmid, true}, false, nullptr);
  if (queue.slot != nullptr) {
    queue.slot->leave(QueueSlot::Leave::kDrain);
  } else {
    shared_.scheduler->write_state(queue);
  }
}

}  // namespace npu::model
