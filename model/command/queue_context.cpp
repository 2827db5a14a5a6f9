// SPDX-License-Identifier: Apache-2.0
#include "model/command/queue_context.hpp"

#include <algorithm>
#include <cstring>

namespace npu::model {

using abi::FaultCode;

// --- loading -------------------------------------------------------------------------------

void QueueContext::load(HardwareQueue& queue) {
  queue_ = &queue;
  save_changed_ = false;
  shared_.memory.read<&QueueContext::descriptor_read>(
      function().local(queue.address), abi::kQueueDescriptorSize,
      function().cause(queue, queue.mqd.read_index), *this);
}

void QueueContext::descriptor_read(const Answer& answer, std::uint64_t) {
  auto& queue = *queue_;
  steps_ = 1;
  if (!answer.ok()) {
    owner_.load_fault(FaultCode::kQueueDescriptor, answer.address, false, false);
    return load_step_done();
  }
  abi::QueueDescriptor read;
  std::memcpy(&read, answer.data, sizeof read);
  const bool same = read.queue_id == queue.mqd.queue_id && read.doorbell == queue.mqd.doorbell;
  read.write_index = std::max(read.write_index, queue.told);
  if (!same || !HardwareQueueTable::valid(read, *queue.process, shared_.config.pci.msix_vectors)) {
    owner_.load_fault(FaultCode::kQueueDescriptor, queue.address, false, false);
  } else {
    // What has happened since the descriptor was last written.
    const auto known = queue.mqd;
    read.doorbells = known.doorbells;
    if (queue.faulted) {
      read.error = known.error;
      read.error_index = known.error_index;
      read.error_address = known.error_address;
    }
    queue.mqd = read;
    start_checks();
  }
  load_step_done();
}

// Everything that needs the descriptor only, at once.
void QueueContext::start_checks() {
  auto& queue = *queue_;
  const auto& mqd = queue.mqd;
  const auto cause = function().cause(queue, mqd.read_index);
  if (mqd.write_index_address != 0) {
    ++steps_;
    shared_.memory.read<&QueueContext::write_index_read>(
        queue.place(abi::kQueueIndexHost, mqd.write_index_address), 8, cause, *this);
  }
  if (mqd.saved != 0) {
    ++steps_;
    shared_.memory.read<&QueueContext::save_record_read>(function().local(mqd.save_area),
                                                         abi::kQueueSaveSize, cause, *this);
  }
  if (queue.checked == function().translations) return;
  queue.checked = function().translations;
  check_host_places();
}

void QueueContext::check_host_places() {
  const auto& queue = *queue_;
  const auto& mqd = queue.mqd;
  if (is_host(abi::kQueueCompletionHost) && mqd.completion_base != 0) {
    check_mapped(queue.place(abi::kQueueCompletionHost, mqd.completion_base),
                 Bytes{abi::kQueueCompletionSize} << mqd.log2_completions);
  }
  if (is_host(abi::kQueueIndexHost) && mqd.read_index_address != 0) {
    check_mapped(queue.place(abi::kQueueIndexHost, mqd.read_index_address), 8);
  }
  if (is_host(abi::kQueueSignalHost) && mqd.signal_slots != 0) {
    check_mapped(queue.signal_place(0), Bytes{abi::kSignalSize} * mqd.signal_slots);
  }
}

// Posted writes bring no answer: whether they may be sent is asked for before (PCIe 10, ATS).
void QueueContext::check_mapped(const Place& place, Bytes bytes) {
  ++steps_;
  shared_.memory.translate<&QueueContext::mapping_checked>(
      place, function().cause(*queue_, queue_->mqd.read_index), *this, bytes);
}

void QueueContext::mapping_checked(const Answer& answer, std::uint64_t bytes) {
  std::uint64_t mapped = 0;
  std::memcpy(&mapped, answer.data, sizeof mapped);
  if (!answer.ok() || mapped < bytes) {
    const bool ring = answer.address == queue_->mqd.completion_base;
    owner_.load_fault(ring ? FaultCode::kCompletionRing : FaultCode::kQueueMemory, answer.address,
                      true, true);
    queue_->checked = UINT64_MAX;
  }
  load_step_done();
}

void QueueContext::write_index_read(const Answer& answer, std::uint64_t) {
  std::uint64_t index = 0;
  std::memcpy(&index, answer.data, sizeof index);
  auto& mqd = queue_->mqd;
  if (!answer.ok()) {
    owner_.load_fault(FaultCode::kQueueMemory, answer.address, answer.host, false);
  } else if (index > mqd.write_index) {
    if (index > mqd.read_index && index - mqd.read_index > queue_->ring_size()) {
      owner_.load_fault(FaultCode::kIndexBeyondRing, index, false, false);
    } else {
      mqd.write_index = index;
    }
  }
  load_step_done();
}

void QueueContext::save_record_read(const Answer& answer, std::uint64_t) {
  if (answer.ok()) {
    std::memcpy(&save_, answer.data, sizeof save_);
  } else {
    owner_.load_fault(FaultCode::kQueueMemory, answer.address, false, false);
  }
  load_step_done();
}

void QueueContext::load_step_done() {
  if (--steps_ == 0) owner_.context_loaded();
}

// --- unloading -----------------------------------------------------------------------------

void QueueContext::save(const QueueCommand& kernel) {
  sc_assert(queue_->mqd.save_area != 0);
  save_ = {};
  save_.entry = kernel.entry;
  save_.index = kernel.index;
  save_.next_block = kernel.next_block;
  queue_->mqd.saved = 1;
  save_changed_ = true;
}

void QueueContext::unload() {
  auto& queue = *queue_;
  auto& mqd = queue.mqd;
  mqd.write_index = queue.write_index();
  unloaded_faulted_ = queue.faulted;
  mqd.state = static_cast<std::uint32_t>(queue.faulted     ? abi::QueueState::kFaulted
                                         : queue.suspended ? abi::QueueState::kSuspended
                                                           : abi::QueueState::kIdle);
  if (queue.work_left() && !queue.faulted) {
    ++mqd.preemptions;
    ++shared_.statistics.preemptions;
  }
  const auto cause = function().cause(queue, mqd.read_index);
  steps_ = 1;
  if (save_changed_) {
    ++steps_;
    shared_.memory.write<&QueueContext::unload_step_done>(function().local(mqd.save_area), &save_,
                                                          sizeof save_, cause, *this);
  }
  shared_.memory.write<&QueueContext::unload_step_done>(
      function().local(queue.address + abi::kQueueStateOffset),
      reinterpret_cast<const unsigned char*>(&mqd) + abi::kQueueStateOffset,
      abi::kQueueDescriptorSize - abi::kQueueStateOffset, cause, *this);
}

void QueueContext::unload_step_done(const Answer&, std::uint64_t) {
  if (--steps_ == 0) owner_.context_unloaded();
}

}  // namespace npu::model
