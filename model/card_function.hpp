// SPDX-License-Identifier: Apache-2.0
// One function of a card: all that a driver sees of it, made from its partition. What does the work
// is shared with the other functions and knows nothing of registers and rings.
#pragma once

#include <optional>
#include <systemc>

#include "model/ats/shared_spaces.hpp"
#include "model/command/command_processor.hpp"
#include "model/control/control_processors.hpp"
#include "model/dma/page_copies.hpp"
#include "model/dma/ring_front_end.hpp"
#include "model/mmu/mmu_context.hpp"
#include "model/mmu/page_faults.hpp"
#include "model/pcie/endpoint.hpp"
#include "model/registers/bar2_decoder.hpp"
#include "model/registers/card_registers.hpp"
#include "model/registers/telemetry_registers.hpp"

namespace npu::model {

class CardFunction : public sc_core::sc_module {
 public:
  // Binds itself to the sockets of function `number` of the endpoint. All references outlive it.
  CardFunction(const sc_core::sc_module_name& name, Simulation& simulation,
               const ChipConfig& config, unsigned device_index, unsigned number,
               Endpoint& endpoint);

  // The engines that work for it.
  void connect(Dma& dma, Mmu& mmu, HostPages& host_pages, CommandProcessor& command,
               ControlProcessors& control);
  // What they have done, for management software.
  void connect(CardTelemetry& telemetry) { telemetry_.emplace(registers_, config_, telemetry); }

  CardRegisters& registers() { return registers_; }
  Bar2Decoder& bar2() { return bar2_; }
  // A driver has it open: processes, or a ring that is enabled.
  bool in_use() const { return queues_->in_use() || ring_->enabled(); }
  // What it has of the card is another.
  void set_partition(const Partition& partition);
  // Registers and ring; the engines reset what they execute for it, and then its context and
  // queues.
  void reset();
  void host_write_lost(std::uint64_t address);
  void may_send_again();
  // A read has found an error in the card's memory.
  void memory_error(std::uint64_t address, unsigned bits) {
    telemetry_->memory_error(address, bits);
  }
  void core_clock_changed() { telemetry_->core_clock_changed(); }
  // The IOMMU unmapped something of it.
  void invalidate_translations() { queues_->invalidate_translations(); }

 private:
  CardRegisters registers_;
  Bar2Decoder bar2_;
  const ChipConfig& config_;
  std::optional<TelemetryRegisters> telemetry_;
  std::optional<RingFrontEnd> ring_;
  std::optional<PageCopies> page_copies_;
  std::optional<MmuContext> context_;
  std::optional<PageFaults> faults_;
  std::optional<SharedSpaces> shared_;
  std::optional<ControlUnit> control_;
  std::optional<QueueFrontEnd> queues_;
};

}  // namespace npu::model
