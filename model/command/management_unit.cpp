// SPDX-License-Identifier: Apache-2.0
// Management queue: registers, fetching, responses.
#include "model/command/management_unit.hpp"

#include <algorithm>
#include <cstring>

#include "model/command/fault_log.hpp"
#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

void ManagementUnit::install_hooks() {
  auto& bank = function_.registers.bank();
  bank.on_write<abi::ManagementControl>([this](abi::ManagementControl v) { control_written(v); });
  bank.on_write<abi::ManagementDoorbell>(
      [this](abi::ManagementDoorbell v) { doorbell_written(v); });
  bank.on_read<abi::ManagementStatusRegister>([this] { return status(); });
  bank.on_read<abi::ManagementConsumer>(
      [this] { return abi::ManagementConsumer::from_raw(done_); });
}

void ManagementUnit::reset() {
  enabled_ = halted_ = busy_ = false;
  told_ = done_ = 0;
  ++generation_;
  executor_.reset();
  batch_.clear();
  batch_next_ = 0;
}

// A command in flight is given up with the ring it came from.
void ManagementUnit::control_written(abi::ManagementControl control) {
  using Control = abi::ManagementControl;
  reset();
  enabled_ = control.get<Control::Enable>() != 0;
  if (!enabled_) return;
  host_memory_ = control.get<Control::HostMemory>() != 0;
  base_ = align_down(function_.registers.bank().get<abi::ManagementBase>().raw, kBusPage);
  entries_ = 1U << std::clamp<std::uint32_t>(control.get<Control::Log2Entries>(), 2, 12);
  function_.registers.bank().set(abi::ManagementDoorbell{});
}

abi::ManagementStatusRegister ManagementUnit::status() const {
  using Status = abi::ManagementStatusRegister;
  return Status{}
      .set<Status::Enabled>(enabled_ ? 1 : 0)
      .set<Status::Idle>(idle() ? 1 : 0)
      .set<Status::Halted>(halted_ ? 1 : 0);
}

void ManagementUnit::doorbell_written(abi::ManagementDoorbell doorbell) {
  if (!enabled_ || halted_) return;
  if (doorbell.raw - done_ > entries_) return halt(abi::FaultCode::kDoorbellRange, doorbell.raw);
  told_ = doorbell.raw;
  if (!busy_) next();
}

void ManagementUnit::halt(abi::FaultCode code, std::uint64_t address) {
  halted_ = true;
  busy_ = false;
  ++generation_;
  executor_.drop_answers();
  abi::QueueFaultRecord record;
  record.code = static_cast<std::uint16_t>(code);
  record.address = address;
  record.index = done_;
  record.queue = abi::kNoQueue;
  record.flags = host_memory_ ? abi::kFaultHost : 0;
  function_.faults->stray(record);
}

void ManagementUnit::next() {
  if (batch_next_ < batch_.size()) return start_decode();
  if (told_ == done_) {
    busy_ = false;
    return;
  }
  busy_ = true;
  const std::uint32_t place = done_ & (entries_ - 1);
  std::uint64_t count = std::min<std::uint64_t>({kBatch, told_ - done_, entries_ - place});
  count = std::min<std::uint64_t>(
      count,
      host_memory_ ? shared_.config.link.max_read_request / abi::kManagementEntrySize : count);
  const std::uint64_t address = base_ + abi::kManagementEntrySize * place;
  shared_.memory.read<&ManagementUnit::fetched>(
      host_memory_ ? function_.driver_host(address) : function_.local(address),
      count * abi::kManagementEntrySize, 0, *this, generation_);
}

void ManagementUnit::fetched(const Answer& answer, std::uint64_t generation) {
  if (generation != generation_) return;
  if (!answer.ok()) return halt(abi::FaultCode::kRingFetch, answer.address);
  batch_.resize(answer.length / abi::kManagementEntrySize);
  std::memcpy(batch_.data(), answer.data, answer.length);
  batch_next_ = 0;
  start_decode();
}

void ManagementUnit::start_decode() {
  busy_ = true;
  began_ = sim_now();
  shared_.sim.agenda.at<&ManagementUnit::decoded>(
      sim_now() + ticks(shared_.config.command.management), *this, generation_);
}

void ManagementUnit::decoded(std::uint64_t generation) {
  if (generation != generation_) return;
  executor_.execute(batch_[batch_next_++]);
}

void ManagementUnit::command_done(abi::ManagementStatus status) {
  const abi::ManagementCommand& command = executor_.command();
  ++done_;
  ++shared_.statistics.management;
  shared_.sim.emit(shared_.track, platform::Activity::kQueueManage, began_, sim_now(), 0, 0,
                   command.opcode);
  if (command.fence_address != 0) {
    abi::ManagementResponse response;
    response.fence_value = command.fence_value;
    response.status = static_cast<std::uint32_t>(status);
    if (const auto* queue = function_.table.queue(command.queue))
      response.detail = queue->mqd.state;
    shared_.memory.post(function_.driver_host(command.fence_address), &response, sizeof response,
                        0);
  }
  if ((command.flags & abi::kManagementInterrupt) != 0) function_.raise(command.vector, 0);
  next();
}

}  // namespace npu::model
