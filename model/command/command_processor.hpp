// SPDX-License-Identifier: Apache-2.0
// The command processor of a card: executes the compute queues of its functions' processes
// (abi/queue.hpp, docs/compute-queues.md).
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <vector>

#include "model/command/command_types.hpp"
#include "model/command/dispatcher.hpp"
#include "model/command/memory_signals.hpp"
#include "model/command/queue_front_end.hpp"
#include "model/command/scheduler.hpp"
#include "model/command/signal_unit.hpp"

namespace npu::model {

class CommandProcessor : public sc_core::sc_module,
                         public ResetListener,
                         private Scheduler::Listener {
 public:
  // All references outlive the module; `device_index` is the card's, in traces. With 0 slots it
  // does nothing.
  CommandProcessor(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
                   unsigned device_index);

  using DoorbellSocket = tlm_utils::passthrough_target_socket_tagged_optional<CommandProcessor>;
  // Writes to each function's doorbell aperture; addresses from the start of page 0. Answers at
  // once.
  sc_core::sc_vector<DoorbellSocket> doorbell_sockets;
  // Rings, indices, signals, descriptors: at most 4 KiB in one 4 KiB page, all with responses, with
  // the VMID of the queue, or VMID 0.
  tlm_utils::simple_initiator_socket<CommandProcessor> device_socket{"device_socket"};
  // The same in host memory, with the PASID of the queue, or none; writes are posted. And
  // kTranslation reads.
  tlm_utils::simple_initiator_socket<CommandProcessor> host_socket{"host_socket"};

  // Before the simulation starts. Without cores launches are faults (kInvalidCoreMask).
  // The queues of the next function.
  void attach(QueueFrontEnd& front_end) { front_ends_.push_back(&front_end); }
  CommandShared& shared() { return shared_; }
  Dispatcher& dispatcher() { return dispatcher_; }
  const Dispatcher& dispatcher() const { return dispatcher_; }
  void connect(DmaRequestPort& dma) { dispatcher_.connect(dma); }
  // Signals in device memory; without it a wait for one is a fault unless it is met at once.
  void connect(MemoryWatch& watch, DeviceMemoryPort& memory) {
    memory_signals_.connect(watch, memory);
  }
  void connect_aicore(KernelPort& cores) { dispatcher_.connect_aicore(cores); }
  void connect_aicpu(KernelPort& cores) { dispatcher_.connect_aicpu(cores); }

  // What it does for the function is forgotten, late responses are dropped.
  void function_reset(unsigned function) override;

  const CommandStatistics& statistics() const { return shared_.statistics; }
  // Entries and accesses in flight.
  bool idle() const {
    return shared_.commands.in_use() == 0 && memory_.outstanding() == 0 &&
           std::all_of(front_ends_.begin(), front_ends_.end(),
                       [](const QueueFrontEnd* each) { return each->management().idle(); });
  }

 private:
  void ring(int function, tlm::tlm_generic_payload& trans, sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void queue_unloaded() override {
    for (auto* each : front_ends_) each->management().queue_unloaded();
  }

  MemoryPort memory_;
  CommandShared shared_;
  Dispatcher dispatcher_;
  SignalUnit signals_;
  MemorySignals memory_signals_;
  Scheduler scheduler_;
  std::vector<QueueFrontEnd*> front_ends_;  // by function
};

}  // namespace npu::model
