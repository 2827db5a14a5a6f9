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
      hbm_("hbm", simulation, config.hbm, kHbmPorts, fmt::format("card{}.hbm", index)),
      hccs_("hccs", simulation, config, registers_) {
  endpoint.register_socket.bind(registers_.register_socket);
  endpoint.memory_socket.bind(bar2_.memory_socket);
  bar2_.hbm_socket.bind(hbm_.port_sockets[kBar2Port]);
  dma_.hbm_socket.bind(mmu_.client_sockets[kDmaClient]);
  mmu_.hbm_sockets[kDmaClient].bind(hbm_.port_sockets[kDmaPort]);
  mmu_.walker_socket.bind(hbm_.port_sockets[kWalkerPort]);
  mmu_.peer_socket.bind(hccs_.peer_socket);
  hccs_.memory_socket.bind(hbm_.port_sockets[kPeerPort]);
  dma_.host_socket.bind(endpoint.dma_sockets[0]);
  registers_.connect(endpoint);
  dma_.connect(endpoint);
  endpoint.add_reset_listener(registers_);
  endpoint.add_reset_listener(dma_);
  endpoint.add_reset_listener(mmu_);
  endpoint.add_reset_listener(hccs_);
}

}  // namespace npu::model
