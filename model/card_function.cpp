// SPDX-License-Identifier: Apache-2.0
#include "model/card_function.hpp"

namespace npu::model {

CardFunction::CardFunction(const sc_core::sc_module_name& name, Simulation& simulation,
                           const ChipConfig& config, unsigned device_index, unsigned number,
                           Endpoint& endpoint)
    : sc_module(name),
      registers_("registers", simulation, config, device_index, number),
      bar2_("bar2", simulation, registers_),
      config_(config) {
  endpoint.register_sockets[number].bind(registers_.register_socket);
  endpoint.memory_sockets[number].bind(bar2_.memory_socket);
  registers_.connect(endpoint);
}

void CardFunction::connect(Dma& dma, Mmu& mmu, HostPages& host_pages, CommandProcessor& command,
                           ControlProcessors& control) {
  ring_.emplace(registers_, dma);
  page_copies_.emplace(registers_, dma);
  context_.emplace(registers_, mmu);
  // Virtual functions make no page requests: their capability is the physical one's.
  const bool is_virtual = registers_.function() >= config_.physical_functions();
  const bool in_place = config_.mmu.fault_policy == PageFaultPolicy::kAts;
  faults_.emplace(registers_, mmu,
                  is_virtual && in_place ? PageFaultPolicy::kMessage : config_.mmu.fault_policy);
  shared_.emplace(registers_, host_pages);
  control_.emplace(registers_, mmu, *faults_, control);
  control.attach(*control_);
  queues_.emplace(command.shared(), registers_);
  command.attach(*queues_);
  bar2_.doorbell_socket.bind(command.doorbell_sockets[registers_.function()]);
}

void CardFunction::set_partition(const Partition& partition) {
  registers_.set_partition(partition);
  telemetry_->set_partition(partition);
  queues_->partition_changed();
}

void CardFunction::reset() {
  registers_.function_reset(registers_.function());
  telemetry_->reset();
  ring_->reset();
  page_copies_->reset();
}

void CardFunction::host_write_lost(std::uint64_t address) {
  ring_->host_write_lost(address);
  queues_->host_write_lost(address);
  faults_->host_write_lost();
  context_->host_write_lost();
  control_->host_write_lost();
}

void CardFunction::may_send_again() {
  faults_->may_send_again();
  control_->may_send_again();
  page_copies_->may_send_again();
}

}  // namespace npu::model
