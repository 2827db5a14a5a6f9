// SPDX-License-Identifier: Apache-2.0
#include "model/chip.hpp"

#include <fmt/format.h>

namespace npu::model {

Chip::Chip(const sc_core::sc_module_name& name, Simulation& simulation, const ChipConfig& config,
           unsigned index, Endpoint& endpoint)
    : sc_module(name),
      registers_("registers", simulation, config, index),
      bar2_("bar2", simulation, config, registers_),
      dma_("dma", simulation, config, registers_),
      mmu_("mmu", simulation, config, registers_, kMmuClients),
      command_("command", simulation, config, registers_),
      aicores_("aicore", simulation, config.aicore, CoreLayout(config).cores(),
               fmt::format("card{}.aicore", index)),
      aicpus_("aicpu", simulation, config.aicpu, config.aicpus, fmt::format("card{}.aicpu", index)),
      aicore_programs_("aicore_programs", simulation, config, mmu_, memory_watch_,
                       fmt::format("card{}.aicore", index)),
      aicpu_programs_("aicpu_programs", simulation, config.aicpu, config.aicpu_core, config.aicpus,
                      fmt::format("card{}.aicpu", index), mmu_),
      l2_("l2", simulation, config.l2, kMmuClients - kFirstL2Client,
          fmt::format("card{}.l2", index)),
      hbm_("hbm", simulation, config.hbm, kClientPorts + kMmuClients,
           fmt::format("card{}.hbm", index)),
      hccs_("hccs", simulation, config, registers_) {
  endpoint.register_sockets[0].bind(registers_.register_socket);
  endpoint.memory_sockets[0].bind(bar2_.memory_socket);
  bar2_.hbm_socket.bind(hbm_.port_sockets[kBar2Port]);
  dma_.hbm_socket.bind(mmu_.client_sockets[kDmaClient]);
  for (unsigned i = 0; i < kMmuClients; ++i) {
    auto& port = hbm_.port_sockets[kClientPorts + i];
    if (i < kFirstL2Client) {
      mmu_.hbm_sockets[i].bind(port);
    } else {
      mmu_.hbm_sockets[i].bind(l2_.client_sockets[i - kFirstL2Client]);
      l2_.hbm_sockets[i - kFirstL2Client].bind(port);
    }
  }
  hbm_.observe_writes(memory_watch_);
  if (config.l2.size != 0) memory_watch_.pass_on_to(l2_);
  mmu_.connect(memory_watch_, {Writer::kDma, Writer::kDma, Writer::kAiCore, Writer::kAicpu,
                               Writer::kAiCore, Writer::kAicpu});
  mmu_.connect(hbm_.memory());
  mmu_.walker_socket.bind(hbm_.port_sockets[kWalkerPort]);
  mmu_.peer_socket.bind(hccs_.peer_socket);
  hccs_.memory_socket.bind(hbm_.port_sockets[kPeerPort]);
  dma_.host_socket.bind(endpoint.dma_sockets[0]);
  registers_.connect(endpoint);
  dma_.connect(endpoint);
  endpoint.add_reset_listener(registers_);
  endpoint.add_reset_listener(dma_);
  endpoint.add_reset_listener(mmu_);
  endpoint.add_reset_listener(l2_);
  endpoint.add_reset_listener(hccs_);
  endpoint.add_write_loss_listener(dma_);
  connect_queues(endpoint);
  connect_programs(endpoint);
}

void Chip::connect_programs(Endpoint& endpoint) {
  aicore_programs_.memory_socket.bind(mmu_.client_sockets[kAiCoreProgramClient]);
  aicpu_programs_.memory_socket.bind(mmu_.client_sockets[kAicpuProgramClient]);
  aicpu_programs_.connect_windows(aicore_programs_);
  memory_watch_.add_snooper(aicpu_programs_);
  aicores_.connect_programs(aicore_programs_);
  aicpus_.connect_programs(aicpu_programs_);
  endpoint.add_reset_listener(aicore_programs_);
  endpoint.add_reset_listener(aicpu_programs_);
}

void Chip::connect_queues(Endpoint& endpoint) {
  bar2_.doorbell_socket.bind(command_.doorbell_socket);
  command_.device_socket.bind(mmu_.client_sockets[kCommandClient]);
  command_.host_socket.bind(endpoint.dma_sockets[1]);
  aicores_.memory_socket.bind(mmu_.client_sockets[kAiCoreClient]);
  aicpus_.memory_socket.bind(mmu_.client_sockets[kAicpuClient]);
  command_.connect(static_cast<InterruptPort&>(endpoint));
  command_.connect(static_cast<DmaRequestPort&>(dma_));
  command_.connect_aicore(aicores_);
  command_.connect_aicpu(aicpus_);
  endpoint.add_reset_listener(command_);
  endpoint.add_write_loss_listener(command_);
  endpoint.add_reset_listener(aicores_);
  endpoint.add_reset_listener(aicpus_);
}

void Chip::invalidate_translations() {
  dma_.invalidate_translations();
  command_.invalidate_translations();
}

}  // namespace npu::model
