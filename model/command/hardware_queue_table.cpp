// SPDX-License-Identifier: Apache-2.0
#include "model/command/hardware_queue_table.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::ManagementStatus;

Process* HardwareQueueTable::process(std::uint32_t pasid) const {
  for (const auto& process : pages_) {
    if (process && process->pasid == pasid) return process.get();
  }
  return nullptr;
}

HardwareQueue* HardwareQueueTable::by_doorbell(const Process& process,
                                               std::uint64_t doorbell) const {
  if (doorbell >= process.doorbells.size()) return nullptr;
  const auto id = process.doorbells[doorbell];
  return id == Process::kNoDoorbell ? nullptr : queues_[id].get();
}

ManagementStatus HardwareQueueTable::map(const abi::ManagementCommand& command, unsigned vectors) {
  const bool bad_vmid = command.vmid == abi::kVmidPhysical || command.vmid >= abi::kVmids;
  const bool bad_pasid = command.pasid == 0 || command.pasid >= 1U << 20;
  if (bad_vmid || bad_pasid || command.vector >= vectors) return ManagementStatus::kInvalidProcess;
  if (command.page >= pages_.size() || pages_[command.page]) return ManagementStatus::kInvalidPage;
  for (const auto& process : pages_) {
    if (process && (process->pasid == command.pasid || process->vmid == command.vmid)) {
      return ManagementStatus::kInvalidProcess;
    }
  }
  auto process = std::make_unique<Process>();
  process->function = function_;
  process->pasid = command.pasid;
  process->vmid = command.vmid;
  process->page = command.page;
  process->vector = command.vector;
  process->doorbells.assign(abi::kQueueDoorbells, Process::kNoDoorbell);
  pages_[command.page] = std::move(process);
  return ManagementStatus::kSuccess;
}

ManagementStatus HardwareQueueTable::unmap(std::uint32_t pasid) {
  const auto* found = process(pasid);
  if (found == nullptr) return ManagementStatus::kInvalidProcess;
  if (found->queues > 0) return ManagementStatus::kProcessBusy;
  pages_[found->page].reset();
  return ManagementStatus::kSuccess;
}

bool HardwareQueueTable::valid(const abi::QueueDescriptor& mqd, const Process& process,
                               unsigned vectors) {
  const auto log2_fits = [](unsigned v) {
    return v >= abi::kMinLog2Ring && v <= abi::kMaxLog2Ring;
  };
  if (mqd.format != abi::kQueueFormat || (mqd.flags & ~abi::kQueueFlags) != 0) return false;
  if (mqd.vmid != process.vmid || mqd.pasid != process.pasid) return false;
  if (mqd.ring_base == 0 || !is_aligned(mqd.ring_base, abi::kQueueEntrySize)) return false;
  if (!log2_fits(mqd.log2_ring)) return false;
  if (mqd.write_index < mqd.read_index || mqd.write_index - mqd.read_index > std::uint64_t{1}
                                                                                 << mqd.log2_ring) {
    return false;
  }
  if (mqd.completion_base != 0 &&
      (!is_aligned(mqd.completion_base, abi::kQueueCompletionSize) ||
       !log2_fits(mqd.log2_completions) || mqd.log2_completions < mqd.log2_ring)) {
    return false;
  }
  const bool words_aligned = is_aligned(mqd.read_index_address, 8) &&
                             is_aligned(mqd.write_index_address, 8) &&
                             is_aligned(mqd.signal_base, 8) && is_aligned(mqd.save_area, 64);
  return words_aligned && mqd.signal_slots <= abi::kSignalSlots &&
         mqd.doorbell < abi::kQueueDoorbells && mqd.priority <= abi::kMaxQueuePriority &&
         mqd.vector < vectors && mqd.percentage >= 1 && mqd.percentage <= 100;
}

ManagementStatus HardwareQueueTable::add(const abi::QueueDescriptor& mqd, std::uint64_t address,
                                         unsigned vectors) {
  if (mqd.queue_id >= abi::kMaxQueues || queue(mqd.queue_id) != nullptr)
    return ManagementStatus::kInvalidQueue;
  auto* owner = process(mqd.pasid);
  if (owner == nullptr) return ManagementStatus::kInvalidProcess;
  if (!valid(mqd, *owner, vectors)) return ManagementStatus::kInvalidDescriptor;
  auto& doorbell = owner->doorbells[mqd.doorbell];
  if (doorbell != Process::kNoDoorbell) return ManagementStatus::kDoorbellInUse;
  doorbell = static_cast<std::uint16_t>(mqd.queue_id);
  ++owner->queues;
  auto queue = std::make_unique<HardwareQueue>();
  queue->mqd = mqd;
  queue->mqd.state = static_cast<std::uint32_t>(abi::QueueState::kIdle);
  queue->mqd.error = 0;
  queue->address = address;
  queue->process = owner;
  queue->told = mqd.write_index;
  if (mqd.queue_id >= queues_.size()) queues_.resize(mqd.queue_id + std::size_t{1});
  queues_[mqd.queue_id] = std::move(queue);
  return ManagementStatus::kSuccess;
}

void HardwareQueueTable::remove(HardwareQueue& queue) {
  auto& owner = *queue.process;
  auto& waiting = owner.waiting;
  waiting.erase(std::remove(waiting.begin(), waiting.end(), &queue), waiting.end());
  for (auto& doorbell : owner.doorbells) {
    if (doorbell == queue.mqd.queue_id) doorbell = Process::kNoDoorbell;
  }
  --owner.queues;
  queues_[queue.mqd.queue_id].reset();
}

void HardwareQueueTable::reset() {
  queues_.clear();
  for (auto& process : pages_) process.reset();
}

}  // namespace npu::model
