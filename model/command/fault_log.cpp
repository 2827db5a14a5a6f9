// SPDX-License-Identifier: Apache-2.0
#include "model/command/fault_log.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::model {

FaultLog::FaultLog(QueueFunction& function) : function_(function), shared_(function.shared) {
  function.registers.bank().on_read<abi::QueueFaultCount>(
      [this] { return abi::QueueFaultCount::from_raw(static_cast<std::uint32_t>(count_)); });
}

void FaultLog::record(abi::QueueFaultRecord record, unsigned vector, std::uint64_t cause) {
  auto& bank = function_.registers.bank();
  ++shared_.statistics.faults;
  record.number = static_cast<std::uint32_t>(++count_);
  record.time_ns = function_.registers.device_time();
  shared_.sim.emit(shared_.track, platform::Activity::kFault, sim_now(), sim_now(), cause, 0,
                   record.code);
  const auto base = align_down(bank.get<abi::QueueFaultBase>().raw, 4096);
  if (base != 0) {
    const auto log2 = bank.get<abi::QueueFaultControl>().get<abi::QueueFaultControl::Log2Records>();
    const std::uint64_t place = (record.number - 1) & ((std::uint64_t{1} << log2) - 1);
    shared_.memory.post(function_.driver_host(base + abi::kQueueFaultSize * place), &record,
                        sizeof record, cause);
  }
  function_.raise(vector, cause);
}

void FaultLog::queue_fault(HardwareQueue& queue, const CommandFault& fault, bool host,
                           const QueueCommand* command, bool continued) {
  auto& mqd = queue.mqd;
  abi::QueueFaultRecord record;
  record.address = fault.address;
  record.index = command != nullptr ? command->index : mqd.read_index;
  record.code = static_cast<std::uint16_t>(fault.code);
  record.opcode = command != nullptr ? command->entry.opcode : std::uint8_t{0};
  record.tag = command != nullptr ? command->entry.tag : 0;
  record.vmid = mqd.vmid;
  record.pasid = mqd.pasid;
  record.queue = mqd.queue_id;
  record.page = static_cast<std::uint16_t>(queue.process->page);
  record.doorbell = mqd.doorbell;
  record.write = fault.write ? 1 : 0;
  if (host) record.flags |= abi::kFaultHost;
  record.core = static_cast<std::uint16_t>(fault.core);
  record.block = fault.block;
  record.size = static_cast<std::uint32_t>(std::min<Bytes>(fault.size, UINT32_MAX));
  record.instruction = fault.instruction;
  if (continued) {
    record.flags |= abi::kFaultContinued;
  } else if (!queue.faulted) {
    queue.faulted = true;
    mqd.state = static_cast<std::uint32_t>(abi::QueueState::kFaulted);
    mqd.error = record.code;
    mqd.error_index = record.index;
    mqd.error_address = record.address;
  }
  this->record(record, mqd.vector, function_.cause(queue, record.index));
}

void FaultLog::stray(abi::QueueFaultRecord record) {
  const auto control = function_.registers.bank().get<abi::QueueFaultControl>();
  this->record(record, control.get<abi::QueueFaultControl::Vector>(), 0);
}

}  // namespace npu::model
