// SPDX-License-Identifier: Apache-2.0
// One card behind its PCIe endpoint. Only composes.
#pragma once

#include <systemc>

#include "model/aicore/core_pool.hpp"
#include "model/aicore/programs.hpp"
#include "model/aicpu/aicpu_programs.hpp"
#include "model/command/command_processor.hpp"
#include "model/config/chip_config.hpp"
#include "model/core/simulation.hpp"
#include "model/dma/dma.hpp"
#include "model/hbm/hbm.hpp"
#include "model/l2/l2.hpp"
#include "model/link/hccs_port.hpp"
#include "model/mmu/mmu.hpp"
#include "model/pcie/endpoint.hpp"
#include "model/registers/bar2_decoder.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

class Chip : public sc_core::sc_module {
 public:
  // DMA sockets that a card's endpoint is built with.
  static constexpr unsigned kEndpointPorts = 2;

  // `index` is DEVICE_INDEX. The endpoint outlives the chip.
  Chip(const sc_core::sc_module_name& name, Simulation& simulation, const ChipConfig& config,
       unsigned index, Endpoint& endpoint);

  CardRegisters& registers() { return registers_; }
  Dma& dma() { return dma_; }
  Mmu& mmu() { return mmu_; }
  L2& l2() { return l2_; }
  Hbm& hbm() { return hbm_; }
  HccsPort& hccs() { return hccs_; }
  MemoryWatch& memory_watch() { return memory_watch_; }
  CommandProcessor& command() { return command_; }
  CorePool& aicores() { return aicores_; }
  CorePool& aicpus() { return aicpus_; }
  AiCorePrograms& aicore_programs() { return aicore_programs_; }
  AicpuPrograms& aicpu_programs() { return aicpu_programs_; }
  // The IOMMU unmapped something of this card.
  void invalidate_translations();

 private:
  enum MmuClient : unsigned {
    kDmaClient,
    kCommandClient,
    kAiCoreClient,
    kAicpuClient,
    kAiCoreProgramClient,  // programs that run on the cores, behind the L2
    kAicpuProgramClient,
    kMmuClients,
    kFirstL2Client = kAiCoreProgramClient
  };
  enum HbmPort : unsigned {
    kBar2Port,
    kWalkerPort,
    kPeerPort,
    kClientPorts
  };  // then one for each MMU client

  void connect_queues(Endpoint& endpoint);
  void connect_programs(Endpoint& endpoint);

  MemoryWatch memory_watch_;
  CardRegisters registers_;
  Bar2Decoder bar2_;
  Dma dma_;
  Mmu mmu_;
  CommandProcessor command_;
  CorePool aicores_, aicpus_;
  AiCorePrograms aicore_programs_;
  AicpuPrograms aicpu_programs_;
  L2 l2_;
  Hbm hbm_;
  HccsPort hccs_;
};

}  // namespace npu::model
