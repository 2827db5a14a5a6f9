// SPDX-License-Identifier: Apache-2.0
// Queue slot: what each kind of entry does.
#include <cstring>

#include "model/command/dispatcher.hpp"
#include "model/command/queue_slot.hpp"
#include "model/command/signal_unit.hpp"

namespace npu::model {

using abi::FaultCode;
using abi::QueueOpcode;
using platform::Activity;

void QueueSlot::start(QueueCommand& command) {
  switch (command.opcode()) {
    case QueueOpcode::kLaunchAiCore:
    case QueueOpcode::kLaunchAicpu:
      return start_launch(command);
    case QueueOpcode::kEventRecord:
      return start_record(command);
    case QueueOpcode::kEventWait:
      return start_wait(command);
    case QueueOpcode::kTimestamp:
      return start_timestamp(command);
    case QueueOpcode::kNotify:
    case QueueOpcode::kBarrier:
    case QueueOpcode::kNop:
      take(command);
      return finish(command);
    default:  // of the DMA engines: the entry is well formed
      with_dispatcher_ = true;
      return shared_.dispatcher->want_dma(*this);
  }
}

// --- copies and fills ----------------------------------------------------------------------

void QueueSlot::dma_granted() {
  auto& command = *current_;
  with_dispatcher_ = false;
  DmaRequest dma;
  dma.context = command.handle;
  dma.cause = command.cause;
  dma.dispatched = sim_now();
  dma.function = static_cast<std::uint8_t>(function().number);
  dma.space = function().space(queue_->mqd.vmid);
  dma.pasid = queue_->mqd.pasid;
  dma.opcode = command.entry.opcode;
  dma.operation = abi::find_dma_operation(dma.opcode);
  if (dma.has_source_address()) {
    const auto copy = command.entry.get<abi::CopyPayload>();
    dma.source = copy.source;
    dma.destination = copy.destination;
    dma.size = copy.size;
  } else {
    const auto fill = command.entry.get<abi::FillPayload>();
    dma.source = fill.pattern;
    dma.destination = fill.destination;
    dma.size = fill.size;
  }
  shared_.sim.emit(track_, Activity::kQueueDispatch, command.eligible, sim_now(), command.cause, 0,
                   queue_->mqd.queue_id);
  take(command);
  shared_.dispatcher->request(dma);
}

void QueueSlot::work_done(QueueCommand& command) {
  finish(command);
}

// --- kernels -------------------------------------------------------------------------------

void QueueSlot::start_launch(QueueCommand& command) {
  if (!shared_.dispatcher->has_core(*this, command.opcode())) {
    return fail(command, {FaultCode::kInvalidCoreMask, 0, queue_->mqd.vmid, false}, false);
  }
  const auto launch = command.entry.get<abi::LaunchPayload>();
  if (launch.function != 0 || launch.image == 0) {
    return fail(command, {FaultCode::kInvalidFunction, launch.function, queue_->mqd.vmid, false},
                false);
  }
  command.blocks = launch.blocks;
  with_dispatcher_ = true;
  shared_.dispatcher->want_cores(*this);
}

KernelBlock QueueSlot::take_block() {
  if (kernel_ == nullptr) {
    kernel_ = current_;
    shared_.sim.emit(track_, Activity::kQueueDispatch, kernel_->eligible, sim_now(), kernel_->cause,
                     0, queue_->mqd.queue_id);
    take(*kernel_);
  }
  auto& command = *kernel_;
  const auto launch = command.entry.get<abi::LaunchPayload>();
  KernelBlock block;
  block.image = launch.image;
  block.block = command.next_block++;
  block.blocks = command.blocks;
  block.arguments = launch.arguments;
  block.argument_bytes = launch.argument_bytes;
  block.vmid = function().space(queue_->mqd.vmid);
  block.cause = command.cause;
  block.context = command.handle;
  ++command.blocks_out;
  ++shared_.statistics.blocks;
  if (command.next_block == command.blocks) {
    kernel_ = nullptr;
    with_dispatcher_ = false;
  }
  return block;
}

void QueueSlot::block_started() {
  if (kernel_ == nullptr) try_start();
}

void QueueSlot::block_ended(QueueCommand& command, const CommandFault& fault) {
  --command.blocks_out;
  if (fault.failed() && !command.fault.failed()) {
    command.fault = fault;
    if (kernel_ == &command) {  // no more blocks of it
      if (with_dispatcher_) shared_.dispatcher->cancel(*this);
      with_dispatcher_ = false;
      kernel_ = nullptr;
    }
    if (command.blocks_out > 0 && !command.given_up) report(command);
  }
  if (command.blocks_out > 0) return;
  if (kernel_ != &command) return finish(command);
  if (stopping()) check_out();
}

// --- signals -------------------------------------------------------------------------------

void QueueSlot::start_record(QueueCommand& command) {
  const auto signal = command.entry.get<abi::SignalPayload>();
  if (signal.slot >= queue_->mqd.signal_slots) {
    return fail(command, {FaultCode::kInvalidSignal, signal.slot, queue_->mqd.vmid, true}, false);
  }
  take(command);
  const Place place = queue_->signal_place(signal.slot);
  if (shared_.memory.write<&QueueSlot::record_written>(place, &signal.value, sizeof signal.value,
                                                       command.cause, *this, command.handle)) {
    shared_.signals->written(*queue_->process, place, signal.value);
    finish(command);
  }
}

void QueueSlot::record_written(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  if (!answer.ok()) {
    fail_access(command, answer);
  } else {
    const auto signal = command.entry.get<abi::SignalPayload>();
    shared_.signals->written(*queue_->process, queue_->signal_place(signal.slot), signal.value);
  }
  finish(command);
}

void QueueSlot::start_wait(QueueCommand& command) {
  const auto payload = command.entry.get<abi::WaitPayload>();
  if (payload.slot >= queue_->mqd.signal_slots) {
    return fail(command, {FaultCode::kInvalidSignal, payload.slot, queue_->mqd.vmid, false}, false);
  }
  auto& wait = queue_->wait;
  if (wait.index != command.index) {  // not one that goes on after the queue has been unloaded
    wait.index = command.index;
    wait.since = sim_now();
    const bool limited = payload.timeout_ns != 0 && payload.timeout_ns < UINT64_MAX / 4000;
    wait.deadline = limited ? sim_now() + 1000 * payload.timeout_ns : UINT64_MAX;
  }
  wait.payload = payload;
  wait.place = queue_->signal_place(payload.slot);
  read_signal();
}

void QueueSlot::read_signal() {
  if (reading_signal_) return;
  parked_ = false;
  if (queue_->wait.active) shared_.signals->unpark(*queue_);
  reading_signal_ = true;
  ++accesses_;
  shared_.memory.read<&QueueSlot::signal_read>(queue_->wait.place, abi::kSignalSize,
                                               current_->cause, *this, queue_->process->signals);
}

void QueueSlot::signal_read(const Answer& answer, std::uint64_t seen) {
  --accesses_;
  reading_signal_ = false;
  if (stopping()) return check_out();
  if (!answer.ok()) {
    auto& command = *current_;
    return fail(command, {answer.code(), answer.address, queue_->mqd.vmid, false}, answer.host);
  }
  std::uint64_t value = 0;
  std::memcpy(&value, answer.data, sizeof value);
  if (SignalUnit::met(queue_->wait, value)) {
    end_wait(FaultCode::kNone);
  } else if (sim_now() >= queue_->wait.deadline) {
    end_wait(FaultCode::kWaitTimeout);
  } else if (queue_->process->signals != seen) {
    read_signal();  // it may have been written since
  } else {
    parked_ = true;
    shared_.signals->park(*queue_);
  }
}

void QueueSlot::signal_value(std::uint64_t value) {
  if (parked_ && SignalUnit::met(queue_->wait, value)) end_wait(FaultCode::kNone);
}

void QueueSlot::wait_expired() {
  if (parked_) end_wait(FaultCode::kWaitTimeout);
}

void QueueSlot::end_wait(FaultCode status) {
  auto& command = *current_;
  parked_ = false;
  shared_.signals->unpark(*queue_);
  queue_->wait.index = UINT64_MAX;
  shared_.sim.emit(track_, Activity::kQueueWait, queue_->wait.since, sim_now(), command.cause, 0,
                   queue_->mqd.queue_id);
  command.fault.code = status;
  take(command);
  finish(command);
}

// --- timestamps ----------------------------------------------------------------------------

void QueueSlot::start_timestamp(QueueCommand& command) {
  const auto address = command.entry.get<abi::TimestampPayload>().address;
  take(command);
  if ((command.entry.flags & abi::kEntryHostAddress) != 0) {
    shared_.memory.translate<&QueueSlot::timestamp_mapped>(
        {true, function().space(0), queue_->mqd.pasid, address}, command.cause, *this,
        command.handle);
    return;
  }
  const std::uint64_t time = function().registers.device_time();
  shared_.memory.write<&QueueSlot::timestamp_written>(
      {false, function().space(queue_->mqd.vmid), 0, address}, &time, sizeof time, command.cause,
      *this, command.handle);
}

void QueueSlot::timestamp_mapped(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  std::uint64_t mapped = 0;
  std::memcpy(&mapped, answer.data, sizeof mapped);
  if (!answer.ok() || mapped < sizeof mapped) {
    fail_access(command, answer);
  } else {
    const std::uint64_t time = function().registers.device_time();
    const Place place{true, function().space(0), queue_->mqd.pasid, answer.address};
    if (!shared_.memory.write<&QueueSlot::timestamp_written>(place, &time, sizeof time,
                                                             command.cause, *this, handle)) {
      return;
    }
  }
  finish(command);
}

void QueueSlot::timestamp_written(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  if (!answer.ok()) fail_access(command, answer);
  finish(command);
}

}  // namespace npu::model
