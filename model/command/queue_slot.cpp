// SPDX-License-Identifier: Apache-2.0
#include "model/command/queue_slot.hpp"

#include <algorithm>

#include "model/command/dispatcher.hpp"
#include "model/command/fault_log.hpp"
#include "model/command/scheduler.hpp"

namespace npu::model {

using platform::Activity;

QueueSlot::QueueSlot(CommandShared& shared, unsigned number)
    : shared_(shared),
      number_(number),
      track_(shared.sim.recorder.track(shared.track_prefix + ".command.slot" +
                                       std::to_string(number))),
      context_(shared, *this),
      window_(shared, track_, *this, *this) {}

void QueueSlot::load(HardwareQueue& queue) {
  sc_assert(state_ == State::kFree && queue.slot == nullptr);
  queue_ = &queue;
  queue.slot = this;
  state_ = State::kLoading;
  leave_ = Leave::kNo;
  began_ = sim_now();
  ++shared_.statistics.maps;
  context_.load(queue);
}

void QueueSlot::load_fault(abi::FaultCode code, std::uint64_t address, bool host, bool write) {
  queue_fault({code, address, host ? std::uint8_t{0} : queue_->mqd.vmid, write}, host, nullptr);
}

void QueueSlot::context_loaded() {
  auto& queue = *queue_;
  auto& mqd = queue.mqd;
  state_ = State::kActive;
  active_since_ = sim_now();
  window_.begin(queue);
  mqd.write_index = std::max(mqd.write_index, queue.told);  // told meanwhile
  queue.told = mqd.write_index;
  ++mqd.maps;
  shared_.sim.emit(track_, Activity::kQueueMap, began_, sim_now(),
                   function().cause(queue, mqd.read_index), 0, mqd.queue_id);
  if (queue.faulted) leave_ = std::max(leave_, Leave::kDrain);
  if (leave_ != Leave::kNo) return leave(leave_);
  if (mqd.saved != 0) {
    window_.restore_kernel(context_.saved());
  } else {
    shared_.forget_kernel(queue);
  }
  window_.pump();
  shared_.scheduler->slot_changed();
}

void QueueSlot::work_added() {
  if (state_ != State::kActive) return;
  auto& mqd = queue_->mqd;
  mqd.write_index = std::max(mqd.write_index, queue_->told);
  window_.pump();
}

// What runs ends, nothing more is started.
void QueueSlot::queue_fault(const CommandFault& fault, bool host, const QueueCommand* command) {
  function().faults->queue_fault(*queue_, fault, host, command);
  leave(Leave::kDrain);
}

void QueueSlot::entry_fault(const QueueCommand& command) {
  if (!command.continues_on_error())
    return queue_fault(command.fault, command.host_fault, &command);
  function().faults->queue_fault(*queue_, command.fault, command.host_fault, &command, true);
}

// --- leaving -------------------------------------------------------------------------------

void QueueSlot::leave(Leave how) {
  if (state_ == State::kFree || state_ == State::kUnloading) return;
  leave_ = std::max(leave_, how);
  if (state_ == State::kLoading) return;  // context_loaded() comes back here
  if (state_ == State::kActive) {
    state_ = State::kLeaving;
    began_ = sim_now();
  }
  window_.stop(leave_ == Leave::kReset);
}

bool QueueSlot::saves(const QueueCommand& kernel) {
  if (leave_ == Leave::kReset || queue_->faulted) return false;
  context_.save(kernel);
  return true;
}

void QueueSlot::entries_ended() {
  state_ = State::kUnloading;
  queue_->mqd.active_ns += (sim_now() - active_since_) / 1000;
  context_.unload();
}

void QueueSlot::context_unloaded() {
  auto& queue = *queue_;
  shared_.sim.emit(track_, Activity::kQueueUnmap, began_, sim_now(),
                   function().cause(queue, queue.mqd.read_index), 0, queue.mqd.queue_id);
  queue.slot = nullptr;
  queue_ = nullptr;
  state_ = State::kFree;
  leave_ = Leave::kNo;
  // A doorbell has stopped it while its descriptor was written.
  if (queue.faulted && !context_.unloaded_faulted()) shared_.scheduler->write_state(queue);
  shared_.scheduler->queue_out(queue);
}

void QueueSlot::reset() {
  state_ = State::kFree;
  leave_ = Leave::kNo;
  queue_ = nullptr;
  context_.reset();
  window_.reset();
}

}  // namespace npu::model
