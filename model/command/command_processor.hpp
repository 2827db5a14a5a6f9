// SPDX-License-Identifier: Apache-2.0
// The command processor of a card: executes the compute queues of processes (abi/queue.hpp,
// docs/compute-queues.md).
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "model/command/command_types.hpp"
#include "model/command/dispatcher.hpp"
#include "model/command/doorbell_unit.hpp"
#include "model/command/fault_log.hpp"
#include "model/command/management.hpp"
#include "model/command/scheduler.hpp"
#include "model/command/signal_unit.hpp"

namespace npu::model {

class CommandProcessor : public sc_core::sc_module,
                         public ResetListener,
                         public WriteLossListener,
                         private Scheduler::Listener {
 public:
  // Installs itself behind the command processor's registers of `registers`; all references outlive
  // the module. With 0 slots it shows none and does nothing.
  CommandProcessor(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
                   CardRegisters& registers);

  // Writes to the doorbell aperture; addresses from the start of page 0. Answers at once.
  tlm_utils::simple_target_socket<CommandProcessor> doorbell_socket{"doorbell_socket"};
  // Rings, indices, signals, descriptors: at most 4 KiB in one 4 KiB page, all with responses, with
  // the VMID of the queue, or VMID 0.
  tlm_utils::simple_initiator_socket<CommandProcessor> device_socket{"device_socket"};
  // The same in host memory, with the PASID of the queue, or none; writes are posted. And
  // kTranslation reads.
  tlm_utils::simple_initiator_socket<CommandProcessor> host_socket{"host_socket"};

  // Before the simulation starts. Without cores launches are faults (kInvalidCoreMask).
  void connect(InterruptPort& interrupts) { shared_.interrupts = &interrupts; }
  void connect(DmaRequestPort& dma) { dispatcher_.connect(dma); }
  void connect_aicore(KernelPort& cores) { dispatcher_.connect_aicore(cores); }
  void connect_aicpu(KernelPort& cores) { dispatcher_.connect_aicpu(cores); }

  // The IOMMU unmapped something of this function: what is known of host places is old.
  void invalidate_translations() { ++shared_.translations; }
  // Forgets processes and queues; late responses are dropped.
  void function_reset(unsigned function) override;
  // It may have been an entry of any ring in device memory: every queue is at fault.
  void host_write_lost(unsigned, std::uint64_t address) override {
    doorbells_.host_write_lost(address);
  }

  const CommandStatistics& statistics() const { return shared_.statistics; }
  // Entries and accesses under way.
  bool idle() const {
    return shared_.commands.in_use() == 0 && memory_.outstanding() == 0 && management_.idle();
  }

 private:
  void ring(tlm::tlm_generic_payload& trans, sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void queue_unloaded() override { management_.queue_unloaded(); }
  void install_constants(const ChipConfig& config);

  MemoryPort memory_;
  CommandShared shared_;
  FaultLog faults_;
  Dispatcher dispatcher_;
  SignalUnit signals_;
  Scheduler scheduler_;
  DoorbellUnit doorbells_;
  Management management_;
};

}  // namespace npu::model
