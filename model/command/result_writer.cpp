// SPDX-License-Identifier: Apache-2.0
#include "model/command/result_writer.hpp"

#include <cstring>

#include "model/command/signal_unit.hpp"

namespace npu::model {

using abi::FaultCode;

void ResultWriter::begin(HardwareQueue& queue) {
  queue_ = &queue;
  reported_ = queue.mqd.read_index;
}

// --- the work of entries -------------------------------------------------------------------

void ResultWriter::write_signal(QueueCommand& command) {
  const auto signal = command.entry.get<abi::MemorySignalPayload>();
  const Place place =
      in_memory(command) ? queue_->memory_place(signal.address) : queue_->signal_place(signal.slot);
  if (!shared_.memory.write<&ResultWriter::signal_written>(
          place, &signal.value, sizeof signal.value, command.cause, *this, command.handle)) {
    return;
  }
  shared_.signals->written(*queue_->process, place, signal.value);
  owner_.work_written(command);
}

void ResultWriter::signal_written(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  if (!answer.ok()) {
    fail(command, answer);
  } else if (!in_memory(command)) {  // else who watches the memory has seen it
    const auto signal = command.entry.get<abi::SignalPayload>();
    shared_.signals->written(*queue_->process, queue_->signal_place(signal.slot), signal.value);
  }
  owner_.work_written(command);
}

void ResultWriter::write_timestamp(QueueCommand& command) {
  const auto address = command.entry.get<abi::TimestampPayload>().address;
  if ((command.entry.flags & abi::kEntryHostAddress) != 0) {
    shared_.memory.translate<&ResultWriter::timestamp_mapped>(
        {true, function().space(0), queue_->mqd.pasid, address}, command.cause, *this,
        command.handle);
    return;
  }
  const std::uint64_t time = function().registers.device_time();
  shared_.memory.write<&ResultWriter::timestamp_written>(
      {false, function().space(queue_->mqd.vmid), 0, address}, &time, sizeof time, command.cause,
      *this, command.handle);
}

void ResultWriter::timestamp_mapped(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  std::uint64_t mapped = 0;
  std::memcpy(&mapped, answer.data, sizeof mapped);
  if (!answer.ok() || mapped < sizeof mapped) {
    fail(command, answer);
  } else {
    const std::uint64_t time = function().registers.device_time();
    const Place place{true, function().space(0), queue_->mqd.pasid, answer.address};
    if (!shared_.memory.write<&ResultWriter::timestamp_written>(place, &time, sizeof time,
                                                                command.cause, *this, handle)) {
      return;
    }
  }
  owner_.work_written(command);
}

void ResultWriter::timestamp_written(const Answer& answer, std::uint64_t handle) {
  auto& command = shared_.commands.at(handle);
  if (!answer.ok()) fail(command, answer);
  owner_.work_written(command);
}

void ResultWriter::fail(QueueCommand& command, const Answer& answer) {
  const auto code = answer.ok() ? FaultCode::kHostAddress : answer.code();
  const SpaceId vmid = answer.host ? SpaceId{0} : queue_->mqd.vmid;
  command.fault = {code, answer.address, vmid, true};
  command.host_fault = answer.host;
}

// --- completion ----------------------------------------------------------------------------

void ResultWriter::write_completion(QueueCommand& command) {
  command.writes = 1;
  send_read_index(command);
  send_completion_entry(command);
  if (--command.writes == 0) owner_.completion_written(command);
}

// Where software looks for room in the ring without completion entries: not more often than needed.
void ResultWriter::send_read_index(QueueCommand& command) {
  const auto& mqd = queue_->mqd;
  if (mqd.read_index_address == 0 || reported_ == mqd.read_index) return;
  const bool asked = (command.entry.flags & abi::kEntryCompletion) != 0;
  const bool empty = mqd.read_index == mqd.write_index;
  if (!asked && !empty && mqd.read_index - reported_ < queue_->ring_size() / 4) return;
  reported_ = mqd.read_index;
  if (!shared_.memory.write<&ResultWriter::index_written>(
          queue_->place(abi::kQueueIndexHost, mqd.read_index_address), &reported_, sizeof reported_,
          command.cause, *this, command.handle)) {
    ++command.writes;
  }
}

void ResultWriter::send_completion_entry(QueueCommand& command) {
  auto& mqd = queue_->mqd;
  const bool asked = (command.entry.flags & abi::kEntryCompletion) != 0;
  if (mqd.completion_base == 0 || (!asked && !command.fault.failed())) return;
  abi::QueueCompletion entry;
  entry.read_index = mqd.read_index;
  entry.tag = command.entry.tag;
  entry.status = static_cast<std::uint16_t>(command.fault.code);
  entry.phase = abi::completion_phase(mqd.completion_index, mqd.log2_completions);
  if (command.fault.failed() && command.continues_on_error())
    entry.phase |= abi::kCompletionContinued;
  const std::uint64_t place =
      mqd.completion_index++ & ((std::uint64_t{1} << mqd.log2_completions) - 1);
  ++shared_.statistics.completions;
  if (!shared_.memory.write<&ResultWriter::entry_written>(
          queue_->place(abi::kQueueCompletionHost,
                        mqd.completion_base + abi::kQueueCompletionSize * place),
          &entry, sizeof entry, command.cause, *this, command.handle)) {
    ++command.writes;
  }
}

void ResultWriter::entry_written(const Answer& answer, std::uint64_t handle) {
  part_written(shared_.commands.at(handle), answer, FaultCode::kCompletionRing);
}

void ResultWriter::index_written(const Answer& answer, std::uint64_t handle) {
  part_written(shared_.commands.at(handle), answer, FaultCode::kQueueMemory);
}

void ResultWriter::part_written(QueueCommand& command, const Answer& answer, FaultCode code) {
  if (!answer.ok()) {
    const SpaceId vmid = answer.host ? SpaceId{0} : queue_->mqd.vmid;
    owner_.completion_fault({code, answer.address, vmid, true}, answer.host, command);
  }
  if (--command.writes == 0) owner_.completion_written(command);
}

}  // namespace npu::model
