// SPDX-License-Identifier: Apache-2.0
// Queue slot: how entries end.
#include "model/command/dispatcher.hpp"
#include "model/command/fault_log.hpp"
#include "model/command/queue_slot.hpp"
#include "model/command/scheduler.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::Activity;

// The entry's work is done; what waited for that may start.
void QueueSlot::finish(QueueCommand& command) {
  --working_;
  command.done = sim_now();
  if (command.given_up) {
    --open_;
    shared_.commands.free(command);
    return check_out();
  }
  shared_.sim.agenda.at<&QueueSlot::completed>(
      sim_now() + ticks(shared_.config.command.completion_processing), *this,
      packed(command.handle));
  if (command.fault.failed() && command.fault.code != FaultCode::kWaitTimeout) {
    report(command);
    if (!command.goes_on()) return;
    pump();  // what comes behind an entry that could not be started
  }
  try_start();
}

// Of a kernel as soon as one block is at fault.
void QueueSlot::report(QueueCommand& command) {
  if (command.reported) return;
  command.reported = true;
  if (!command.goes_on()) return fault(command.fault, command.host_fault, &command);
  function().faults->queue_fault(*queue_, command.fault, command.host_fault, &command, true);
}

void QueueSlot::completed(std::uint64_t argument) {
  if (argument >> 32 != generation_) return;
  auto& command = shared_.commands.at(argument & 0xFFFF'FFFF);
  command.writes = 1;
  write_index_report(command);
  write_completion(command);
  if (--command.writes == 0) close(command);
}

// Where software looks for room in the ring without completion entries: not more often than needed.
void QueueSlot::write_index_report(QueueCommand& command) {
  const auto& mqd = queue_->mqd;
  if (mqd.read_index_address == 0 || reported_ == mqd.read_index) return;
  const bool asked = (command.entry.flags & abi::kEntryCompletion) != 0;
  const bool empty = mqd.read_index == mqd.write_index;
  if (!asked && !empty && mqd.read_index - reported_ < queue_->ring_size() / 4) return;
  reported_ = mqd.read_index;
  if (!shared_.memory.write<&QueueSlot::index_written>(
          queue_->place(abi::kQueueIndexHost, mqd.read_index_address), &reported_, sizeof reported_,
          command.cause, *this, command.handle)) {
    ++command.writes;
  }
}

void QueueSlot::write_completion(QueueCommand& command) {
  auto& mqd = queue_->mqd;
  const bool asked = (command.entry.flags & abi::kEntryCompletion) != 0;
  if (mqd.completion_base == 0 || (!asked && !command.fault.failed())) return;
  abi::QueueCompletion entry;
  entry.read_index = mqd.read_index;
  entry.tag = command.entry.tag;
  entry.status = static_cast<std::uint16_t>(command.fault.code);
  entry.phase = abi::completion_phase(mqd.completion_index, mqd.log2_completions);
  if (command.fault.failed() && command.goes_on()) entry.phase |= abi::kCompletionGoesOn;
  const std::uint64_t place =
      mqd.completion_index++ & ((std::uint64_t{1} << mqd.log2_completions) - 1);
  ++shared_.statistics.completions;
  if (!shared_.memory.write<&QueueSlot::completion_written>(
          queue_->place(abi::kQueueCompletionHost,
                        mqd.completion_base + abi::kQueueCompletionSize * place),
          &entry, sizeof entry, command.cause, *this, command.handle)) {
    ++command.writes;
  }
}

void QueueSlot::completion_written(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  if (!answer.ok()) {
    fault_of_report(FaultCode::kCompletionRing, answer, command);
  }
  if (--command.writes == 0) close(command);
}

void QueueSlot::index_written(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  if (!answer.ok()) {
    fault_of_report(FaultCode::kQueueMemory, answer, command);
  }
  if (--command.writes == 0) close(command);
}

void QueueSlot::fault_of_report(FaultCode code, const Answer& answer, const QueueCommand& command) {
  const SpaceId vmid = answer.host ? SpaceId{0} : queue_->mqd.vmid;
  fault({code, answer.address, vmid, true}, answer.host, &command);
}

// Everything is written, or on its way to the host in front of the interrupt.
void QueueSlot::close(QueueCommand& command) {
  auto& mqd = queue_->mqd;
  ++mqd.completed;
  ++shared_.statistics.entries;
  const bool interrupt = (command.entry.flags & abi::kEntryInterrupt) != 0 ||
                         command.opcode() == abi::QueueOpcode::kNotify || command.fault.failed();
  if (interrupt) function().raise(mqd.vector, command.cause);
  shared_.sim.emit(track_, Activity::kQueueComplete, command.done, sim_now(), command.cause, 0,
                   mqd.queue_id);
  shared_.sim.emit(track_, Activity::kQueueCommand, command.decoded, sim_now(), command.cause, 0,
                   std::uint64_t{command.entry.opcode} << 16 | mqd.queue_id);
  --open_;
  shared_.commands.free(command);
  if (stopping()) return check_out();
  try_start();
  note_idle();
  if (parked()) shared_.scheduler->slot_changed();
}

// --- faults --------------------------------------------------------------------------------

// The decoded entry cannot be started.
void QueueSlot::fail(QueueCommand& command, const CommandFault& fault, bool host) {
  command.fault = fault;
  command.host_fault = host;
  current_ = nullptr;
  ++queue_->mqd.read_index;
  ++open_;
  ++working_;
  finish(command);
}

void QueueSlot::fail_access(QueueCommand& command, const Answer& answer) {
  const auto code = answer.ok() ? FaultCode::kHostAddress : answer.code();
  const SpaceId vmid = answer.host ? SpaceId{0} : queue_->mqd.vmid;
  command.fault = {code, answer.address, vmid, true};
  command.host_fault = answer.host;
}

// The queue is stopped: what runs ends, nothing more is started.
void QueueSlot::fault(const CommandFault& fault, bool host, const QueueCommand* command) {
  function().faults->queue_fault(*queue_, fault, host, command);
  leave(Leave::kDrain);
}

}  // namespace npu::model
