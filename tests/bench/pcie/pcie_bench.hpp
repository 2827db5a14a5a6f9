// SPDX-License-Identifier: Apache-2.0
// A PCI hierarchy between a stand-in host and stand-in chips.
#pragma once

#include <functional>
#include <memory>

#include "model/pcie/pci_fabric.hpp"
#include "npu/abi/layout.hpp"
#include "npu/base/checked.hpp"
#include "tests/bench/pcie/pcie_config.hpp"
#include "tests/bench/pcie/stand_ins.hpp"
#include "tests/support/on_bench.hpp"

namespace npu::test {

namespace pci = abi::pci;
using model::Completion;
using platform::Bdf;

inline constexpr std::uint64_t kBuffer = StandInHostMemory::kBase;

// The time of `bytes` on link_config(), generation 4 x16: 65000 / 2048 ps per byte.
constexpr std::uint64_t wire(std::uint64_t bytes) {
  return (bytes * 65'000 + 2047) / 2048;
}

struct PcieBench {
  model::Simulation simulation;
  StandInHostMemory memory;
  FakeInterrupts interrupts;
  model::PciFabric fabric;
  std::vector<std::unique_ptr<FakeChip>> chips;
  FakeCpu cpu{"cpu"};
  model::Completion completion = model::Completion::kSuccess;  // of the last access

  explicit PcieBench(const model::SystemConfig& config = one_card())
      : fabric("fabric", simulation, config, memory, interrupts) {
    cpu.socket.bind(fabric.root_complex().cpu_socket);
    for (unsigned i = 0; i < fabric.cards(); ++i) {
      chips.push_back(std::make_unique<FakeChip>(("chip" + std::to_string(i)).c_str(), simulation));
      auto& endpoint = fabric.endpoint(i);
      endpoint.register_sockets[0].bind(chips[i]->registers);
      endpoint.memory_sockets[0].bind(chips[i]->memory);
      chips[i]->dma.bind(endpoint.dma_sockets[0]);
      endpoint.add_reset_listener(*chips[i]);
    }
  }

  FakeChip& chip() { return *chips[0]; }
  model::Endpoint& endpoint() { return fabric.endpoint(0); }

  // Runs `body` as a host task, and then until nothing moves any more.
  void run(std::function<void()> body) {
    sc_core::sc_spawn([body = std::move(body)] { body(); });
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_MS));
  }

  std::uint64_t access(model::TransactionKind kind, tlm::tlm_command command, std::uint64_t address,
                       unsigned width, std::uint64_t value = 0) {
    auto& payload = simulation.pool.allocate(command, address, nullptr, width);
    auto& info = model::Transaction::of(payload);
    info.kind = kind;
    info.issued = model::sim_now();
    info.posted = kind == model::TransactionKind::kMemory && command == tlm::TLM_WRITE_COMMAND;
    std::memcpy(payload.get_data_ptr(), &value, width);
    sc_core::sc_time delay;
    const bool posted = info.posted;
    cpu.socket->b_transport(payload, delay);
    if (posted) return 0;
    completion = info.completion;
    std::memcpy(&value, payload.get_data_ptr(), width);
    payload.release();
    return value;
  }
  std::uint64_t read(std::uint64_t address, unsigned width = 4) {
    return access(model::TransactionKind::kMemory, tlm::TLM_READ_COMMAND, address, width);
  }
  void write(std::uint64_t address, std::uint64_t value, unsigned width = 4) {
    access(model::TransactionKind::kMemory, tlm::TLM_WRITE_COMMAND, address, width, value);
  }
  std::uint32_t config_read(Bdf bdf, std::uint32_t offset, unsigned width = 4) {
    return static_cast<std::uint32_t>(access(model::TransactionKind::kConfig, tlm::TLM_READ_COMMAND,
                                             std::uint64_t{bdf.packed()} << 12 | offset, width));
  }
  void config_write(Bdf bdf, std::uint32_t offset, std::uint32_t value, unsigned width = 4) {
    access(model::TransactionKind::kConfig, tlm::TLM_WRITE_COMMAND,
           std::uint64_t{bdf.packed()} << 12 | offset, width, value);
  }
  void enable_bus_master(Bdf bdf = {1, 0, 0}) {
    config_write(bdf, pci::kCommand, pci::kCommandMemory | pci::kCommandBusMaster, 2);
  }
  std::uint32_t find_capability(Bdf bdf, std::uint8_t id) {
    std::uint32_t offset = fabric.peek_config(bdf, pci::kCapabilityPointer) & 0xFF;
    while (offset != 0 && (fabric.peek_config(bdf, offset) & 0xFF) != id) {
      offset = fabric.peek_config(bdf, offset) >> 8 & 0xFF;
    }
    return offset;
  }
  std::uint32_t find_extended(Bdf bdf, std::uint16_t id) {
    std::uint32_t offset = pci::kExtendedStart;
    while (offset != 0 && (fabric.peek_config(bdf, offset) & 0xFFFF) != id) {
      offset = fabric.peek_config(bdf, offset) >> 20;
    }
    return offset;
  }
  std::uint64_t bar(unsigned number, Bdf bdf = {1, 0, 0}) const {
    return fabric.resource(bdf, number).address;
  }
  void wait(Picoseconds time) { sc_core::wait(sc_core::sc_time::from_value(model::ticks(time))); }
};

inline constexpr Bdf kCard{1, 0, 0};

}  // namespace npu::test
