// SPDX-License-Identifier: Apache-2.0
// What a function shows of the command processor: registers, doorbell pages, management queue and
// fault log (abi/queue.hpp). The slots that execute the queues are shared.
#pragma once

#include "model/command/command_types.hpp"
#include "model/command/doorbell_unit.hpp"
#include "model/command/fault_log.hpp"
#include "model/command/management_unit.hpp"

namespace npu::model {

class QueueFrontEnd {
 public:
  // Installs itself behind the command processor's registers of `registers`.
  QueueFrontEnd(CommandShared& shared, CardRegisters& registers);
  QueueFrontEnd(const QueueFrontEnd&) = delete;
  QueueFrontEnd& operator=(const QueueFrontEnd&) = delete;

  QueueFunction& function() { return function_; }
  DoorbellUnit& doorbells() { return doorbells_; }
  ManagementUnit& management() { return management_; }
  const ManagementUnit& management() const { return management_; }
  // The IOMMU unmapped something of this function: what is known of host places is old.
  void invalidate_translations() { ++function_.translations; }
  // It may have been an entry of any ring in device memory: every queue is at fault.
  void host_write_lost(std::uint64_t address) { doorbells_.host_write_lost(address); }
  // A driver has given it processes.
  bool in_use() const { return function_.table.has_processes(); }
  // What the function has of the card is another.
  void partition_changed();
  // Forgets processes and queues, which are in no slot any more.
  void reset();

 private:
  void install_constants();

  QueueFunction function_;
  FaultLog faults_;
  DoorbellUnit doorbells_;
  ManagementUnit management_;
};

}  // namespace npu::model
