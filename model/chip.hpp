// SPDX-License-Identifier: Apache-2.0
// One card behind its PCIe endpoint: its functions, the engines that they share, resets of
// functions and changes of their partitions.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "model/aicore/programs.hpp"
#include "model/aicpu/aicpu_programs.hpp"
#include "model/ats/host_pages.hpp"
#include "model/card_function.hpp"
#include "model/command/command_processor.hpp"
#include "model/config/chip_config.hpp"
#include "model/control/control_processors.hpp"
#include "model/core/simulation.hpp"
#include "model/dma/dma.hpp"
#include "model/dma/reduce_unit.hpp"
#include "model/hbm/hbm.hpp"
#include "model/l2/l2.hpp"
#include "model/link/hccs_port.hpp"
#include "model/mmu/mmu.hpp"
#include "model/partitions/partition_unit.hpp"
#include "model/pcie/endpoint.hpp"
#include "model/telemetry/card_telemetry.hpp"

namespace npu::model {

class Chip : public sc_core::sc_module,
             private ResetListener,
             private WriteLossListener,
             private MemoryErrorListener,
             private PartitionTarget {
 public:
  // DMA sockets that a card's endpoint is built with.
  static constexpr unsigned kEndpointPorts = 5;

  // `index` is DEVICE_INDEX. The endpoint outlives the chip.
  Chip(const sc_core::sc_module_name& name, Simulation& simulation, const ChipConfig& config,
       unsigned index, Endpoint& endpoint);

  CardFunction& function(unsigned number = 0) { return *functions_[number]; }
  Dma& dma() { return dma_; }
  Mmu& mmu() { return mmu_; }
  L2& l2() { return l2_; }
  Hbm& hbm() { return hbm_; }
  HccsPort& hccs() { return hccs_; }
  MemoryWatch& memory_watch() { return memory_watch_; }
  CommandProcessor& command() { return command_; }
  AiCorePrograms& aicore_programs() { return aicore_programs_; }
  // A card that is hot: AiCorePrograms::set_clock_percent(), which all functions tell.
  void set_core_clock(unsigned percent);
  AicpuPrograms& aicpu_programs() { return aicpu_programs_; }
  ControlProcessors& control() { return control_; }
  CardTelemetry& telemetry() { return telemetry_; }
  const CardPartitions& partitions() const { return partition_unit_.partitions(); }
  HostPages& host_pages() { return host_pages_; }
  // The IOMMU unmapped something of the function. Whether it is over; else the endpoint is told.
  bool invalidate_translations(unsigned function, std::uint64_t request);

 private:
  enum MmuClient : unsigned {
    kDmaClient,
    kCommandClient,
    kAiCoreClient,  // programs that run on the cores, behind the L2
    kAicpuClient,
    kControlClient,
    kPrefetchClient,  // DMA engines that bring lines to the L2
    kMmuClients,
    kFirstL2Client = kAiCoreClient
  };
  enum HbmPort : unsigned {
    kBar2Port,
    kWalkerPort,
    kPeerPort,
    kClientPorts
  };  // then one for each MMU client

  using Functions = std::vector<std::unique_ptr<CardFunction>>;
  static Functions make_functions(Simulation& simulation, const ChipConfig& config, unsigned index,
                                  Endpoint& endpoint);
  void connect_queues(Endpoint& endpoint);
  void connect_programs();
  // What the host sees first, then what still works for it.
  void function_reset(unsigned function) override;
  void stop(unsigned function);
  void scrub(const Partition& partition);
  void set_partition(unsigned function, const Partition& partition);
  void deal_bandwidth();
  GroupMember member_of(const FunctionPartition& partition) const;
  // PartitionTarget
  bool cores_idle(const Partition& partition) const override;
  bool aicpus_idle(const Partition& partition) const override;
  bool in_use(unsigned index) const override;
  void stop_and_scrub(unsigned index, const Partition& had) override;
  void partitions_changed(unsigned index) override;
  void host_write_lost(unsigned function, std::uint64_t address) override;
  void may_send_again(unsigned function) override;
  void memory_error(std::uint64_t address, unsigned bits) override;

  MemoryWatch memory_watch_;
  const ChipConfig& config_;
  Functions functions_;
  Dma dma_;
  ReduceUnit reduce_;
  Mmu mmu_;
  HostPages host_pages_;
  CommandProcessor command_;
  AiCorePrograms aicore_programs_;
  AicpuPrograms aicpu_programs_;
  ControlProcessors control_;
  L2 l2_;
  Hbm hbm_;
  HccsPort hccs_;
  CardTelemetry telemetry_;
  Endpoint& endpoint_;
  PartitionUnit partition_unit_;
};

}  // namespace npu::model
