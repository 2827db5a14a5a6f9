// SPDX-License-Identifier: Apache-2.0
// Queue slot: loading and unloading of a queue.
#include <cstring>
#include <utility>

#include "model/command/dispatcher.hpp"
#include "model/command/queue_slot.hpp"
#include "model/command/scheduler.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::Activity;

void QueueSlot::load(Queue& queue) {
  sc_assert(state_ == State::kFree && queue.slot == nullptr);
  queue_ = &queue;
  queue.slot = this;
  state_ = State::kLoading;
  leave_ = Leave::kNo;
  save_changed_ = false;
  ++generation_;
  began_ = sim_now();
  ++shared_.statistics.maps;
  shared_.memory.read<&QueueSlot::descriptor_read>(
      function().local(queue.address), abi::kQueueDescriptorSize,
      function().cause(queue, queue.mqd.read_index), *this);
}

void QueueSlot::descriptor_read(const Answer& answer, std::uint64_t) {
  auto& queue = *queue_;
  if (!answer.ok()) {
    fault_at_load(FaultCode::kQueueDescriptor, answer.address, false, false);
    steps_ = 1;
    return load_step_done();
  }
  abi::QueueDescriptor read;
  std::memcpy(&read, answer.data, sizeof read);
  const bool same = read.queue_id == queue.mqd.queue_id && read.doorbell == queue.mqd.doorbell;
  read.write_index = std::max(read.write_index, queue.told);
  steps_ = 1;
  if (!same || !QueueTable::valid(read, *queue.process, shared_.config.pci.msix_vectors)) {
    fault_at_load(FaultCode::kQueueDescriptor, queue.address, false, false);
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
void QueueSlot::start_checks() {
  auto& queue = *queue_;
  const auto& mqd = queue.mqd;
  const auto cause = function().cause(queue, mqd.read_index);
  if (mqd.write_index_address != 0) {
    ++steps_;
    shared_.memory.read<&QueueSlot::write_index_read>(
        queue.place(abi::kQueueIndexHost, mqd.write_index_address), 8, cause, *this);
  }
  if (mqd.saved != 0) {
    ++steps_;
    shared_.memory.read<&QueueSlot::save_record_read>(function().local(mqd.save_area),
                                                      abi::kQueueSaveSize, cause, *this);
  }
  if (queue.checked == function().translations) return;
  queue.checked = function().translations;
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
void QueueSlot::check_mapped(const Place& place, Bytes bytes) {
  ++steps_;
  shared_.memory.translate<&QueueSlot::mapping_checked>(
      place, function().cause(*queue_, queue_->mqd.read_index), *this, bytes);
}

void QueueSlot::mapping_checked(const Answer& answer, std::uint64_t bytes) {
  std::uint64_t mapped = 0;
  std::memcpy(&mapped, answer.data, sizeof mapped);
  if (!answer.ok() || mapped < bytes) {
    const bool ring = answer.address == queue_->mqd.completion_base;
    fault_at_load(ring ? FaultCode::kCompletionRing : FaultCode::kQueueMemory, answer.address, true,
                  true);
    queue_->checked = UINT64_MAX;
  }
  load_step_done();
}

void QueueSlot::write_index_read(const Answer& answer, std::uint64_t) {
  std::uint64_t index = 0;
  std::memcpy(&index, answer.data, sizeof index);
  auto& mqd = queue_->mqd;
  if (!answer.ok()) {
    fault_at_load(FaultCode::kQueueMemory, answer.address, answer.host, false);
  } else if (index > mqd.write_index) {
    if (index > mqd.read_index && index - mqd.read_index > queue_->ring_size()) {
      fault_at_load(FaultCode::kIndexBeyondRing, index, false, false);
    } else {
      mqd.write_index = index;
    }
  }
  load_step_done();
}

void QueueSlot::save_record_read(const Answer& answer, std::uint64_t) {
  if (answer.ok()) {
    std::memcpy(&save_, answer.data, sizeof save_);
  } else {
    fault_at_load(FaultCode::kQueueMemory, answer.address, false, false);
  }
  load_step_done();
}

void QueueSlot::fault_at_load(FaultCode code, std::uint64_t address, bool host, bool write) {
  fault({code, address, host ? std::uint8_t{0} : queue_->mqd.vmid, write}, host, nullptr);
}

void QueueSlot::load_step_done() {
  if (--steps_ == 0) loaded();
}

void QueueSlot::loaded() {
  auto& queue = *queue_;
  auto& mqd = queue.mqd;
  state_ = State::kActive;
  active_since_ = idle_since_ = sim_now();
  fetched_ = reported_ = mqd.read_index;
  parked_ = reading_signal_ = with_dispatcher_ = false;
  mqd.write_index = std::max(mqd.write_index, queue.told);  // told meanwhile
  queue.told = mqd.write_index;
  ++mqd.maps;
  shared_.sim.emit(track_, Activity::kQueueMap, began_, sim_now(),
                   function().cause(queue, mqd.read_index), 0, mqd.queue_id);
  if (queue.faulted) leave_ = std::max(leave_, Leave::kDrain);
  if (leave_ != Leave::kNo) return leave(leave_);
  if (mqd.saved != 0) {
    restore_kernel();
  } else {
    shared_.forget_kernel(queue);
  }
  pump();
  shared_.scheduler->slot_changed();
}

// A descriptor may bring a saved kernel that never ran here.
void QueueSlot::restore_kernel() {
  auto* const aside = std::exchange(queue_->kernel, nullptr);
  auto& command = aside != nullptr ? shared_.commands.take_up(*aside) : shared_.commands.allocate();
  command.slot = this;
  command.entry = save_.entry;
  command.index = save_.index;
  command.cause = function().cause(*queue_, save_.index);
  command.decoded = command.eligible = sim_now();
  command.blocks = command.entry.get<abi::LaunchPayload>().blocks;
  command.next_block = save_.next_block;
  command.taken = true;
  queue_->mqd.saved = 0;
  ++open_;
  ++working_;
  if (!shared_.dispatcher->has_core(*this, command.opcode())) {  // it has changed
    command.fault = {FaultCode::kInvalidCoreMask, 0, queue_->mqd.vmid, false};
    return finish(command);
  }
  kernel_ = &command;
  with_dispatcher_ = true;
  shared_.dispatcher->want_cores(*this);
}

// --- leaving -------------------------------------------------------------------------------

void QueueSlot::leave(Leave how) {
  if (state_ == State::kFree || state_ == State::kUnloading) return;
  leave_ = std::max(leave_, how);
  if (state_ == State::kLoading) return;  // loaded() comes back here
  if (state_ == State::kActive) {
    state_ = State::kLeaving;
    began_ = sim_now();
  }
  drop_current();
  const bool may_save = queue_->mqd.save_area != 0;
  if (kernel_ != nullptr && (leave_ == Leave::kReset || may_save || queue_->faulted)) {
    shared_.dispatcher->cancel(*this);
    with_dispatcher_ = false;
  }
  if (leave_ == Leave::kReset) shared_.dispatcher->stop(*this);
  check_out();
}

// The decoded entry has not been taken: it is read again later. With a kernel before it, it is that
// one that the dispatcher knows of.
void QueueSlot::drop_current() {
  parked_ = false;
  if (current_ == nullptr) return;
  if (with_dispatcher_ && kernel_ == nullptr) {
    shared_.dispatcher->cancel(*this);
    with_dispatcher_ = false;
  }
  shared_.commands.free(*current_);
  current_ = nullptr;
}

// A kernel of which no block runs and no block will: written to the save area, or given up.
void QueueSlot::save_kernel() {
  auto& command = *kernel_;
  if (leave_ != Leave::kReset && !queue_->faulted) {
    sc_assert(queue_->mqd.save_area != 0);
    save_ = {};
    save_.entry = command.entry;
    save_.index = command.index;
    save_.next_block = command.next_block;
    queue_->mqd.saved = 1;
    save_changed_ = true;
    queue_->kernel = &command;
    shared_.commands.put_aside(command);
  } else {
    shared_.commands.free(command);
  }
  --open_;
  --working_;
  kernel_ = nullptr;
}

void QueueSlot::check_out() {
  if (state_ != State::kLeaving || fetching_ || accesses_ > 0) return;
  if (kernel_ != nullptr && !with_dispatcher_ && kernel_->blocks_out == 0) save_kernel();
  if (open_ == 0) unload();
}

void QueueSlot::unload() {
  auto& queue = *queue_;
  auto& mqd = queue.mqd;
  state_ = State::kUnloading;
  ++generation_;
  decoding_ = false;
  mqd.write_index = queue.write_index();
  unloaded_faulted_ = queue.faulted;
  mqd.state = static_cast<std::uint32_t>(queue.faulted     ? abi::QueueState::kFaulted
                                         : queue.suspended ? abi::QueueState::kSuspended
                                                           : abi::QueueState::kIdle);
  mqd.active_ns += (sim_now() - active_since_) / 1000;
  if (queue.work_left() && !queue.faulted) {
    ++mqd.preemptions;
    ++shared_.statistics.preemptions;
  }
  const auto cause = function().cause(queue, mqd.read_index);
  steps_ = 1;
  if (save_changed_) {
    ++steps_;
    shared_.memory.write<&QueueSlot::unload_step_done>(function().local(mqd.save_area), &save_,
                                                       sizeof save_, cause, *this);
  }
  shared_.memory.write<&QueueSlot::unload_step_done>(
      function().local(queue.address + abi::kQueueStateOffset),
      reinterpret_cast<const unsigned char*>(&mqd) + abi::kQueueStateOffset,
      abi::kQueueDescriptorSize - abi::kQueueStateOffset, cause, *this);
}

void QueueSlot::unload_step_done(const Answer&, std::uint64_t) {
  if (--steps_ == 0) out();
}

void QueueSlot::out() {
  auto& queue = *queue_;
  shared_.sim.emit(track_, Activity::kQueueUnmap, began_, sim_now(),
                   function().cause(queue, queue.mqd.read_index), 0, queue.mqd.queue_id);
  queue.slot = nullptr;
  queue_ = nullptr;
  state_ = State::kFree;
  leave_ = Leave::kNo;
  // A doorbell has stopped it while its descriptor was written.
  if (queue.faulted && !unloaded_faulted_) shared_.scheduler->write_state(queue);
  shared_.scheduler->queue_out(queue);
}

void QueueSlot::reset() {
  ++generation_;
  state_ = State::kFree;
  leave_ = Leave::kNo;
  queue_ = nullptr;
  current_ = kernel_ = nullptr;
  fetching_ = decoding_ = parked_ = with_dispatcher_ = reading_signal_ = false;
  accesses_ = steps_ = working_ = open_ = 0;
}

}  // namespace npu::model
