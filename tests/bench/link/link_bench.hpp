// SPDX-License-Identifier: Apache-2.0
// Cards that are nothing but an HCCS port, registers and a stand-in memory, and the fabric between
// them. Requests go into the ports' sockets as an MMU would send them.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <string>
#include <vector>

#include "model/link/hccs_fabric.hpp"
#include "model/link/hccs_port.hpp"
#include "model/registers/card_registers.hpp"
#include "tests/bench/dma/stand_in_memory.hpp"
#include "tests/support/on_bench.hpp"

namespace npu::test {

using model::Completion;
using model::SimTime;

// 100 ps per byte. A message of 4 KiB is 16 packets of 320 bytes, one without data a packet of 64.
inline constexpr SimTime kByte = 100;
inline constexpr SimTime kFull = 16 * 320 * kByte;
inline constexpr SimTime kPacket = 320 * kByte;
inline constexpr SimTime kEmpty = 64 * kByte;
inline constexpr SimTime kPropagation = 50'000;
inline constexpr SimTime kIngress = 10'000;
inline constexpr SimTime kMemory = 100'000;
// From the request to the response with nothing else in flight, both for a write and for a read.
inline constexpr SimTime kRoundTrip = kFull + kEmpty + 2 * kPropagation + kIngress + kMemory;

inline model::ChipConfig link_chip_config() {
  model::ChipConfig config{};
  config.streams = 4;
  config.events = 4;
  config.hbm.usable = 1_MiB;
  config.hbm.installed = 2_MiB;
  config.hccs.rate = 10'000'000'000;
  config.hccs.packet_payload = 256;
  config.hccs.packet_overhead = 64;
  config.hccs.propagation = 50_ns;
  config.hccs.ingress = 10_ns;
  config.hccs.receive_buffer = 1_MiB;
  config.hccs.max_outstanding_reads = 1_MiB;
  config.hccs.max_outstanding_writes = 1_MiB;
  config.hccs.response_timeout = 100_us;
  return config;
}

class LinkCard : public sc_core::sc_module {
 public:
  struct Answer {
    std::uint64_t id;
    SimTime when;
    Completion completion;
  };

  LinkCard(const sc_core::sc_module_name& name, model::Simulation& simulation,
           const model::ChipConfig& chip, unsigned index)
      : sc_module(name),
        registers("registers", simulation, chip, index),
        memory("memory", simulation, chip.hbm.installed),
        port("port", simulation, chip, registers.bank()),
        sim_(simulation) {
    mmu.bind(port.peer_socket);
    mmu.register_nb_transport_bw(this, &LinkCard::answered);
    port.memory_socket.bind(memory.socket);
    bar0.bind(registers.register_socket);
    memory.latency = kMemory;
    for (unsigned i = 0; i < abi::kMaxHccsCards; i += abi::HccsWord::kCards) let_in(UINT32_MAX, i);
  }

  // Cards first .. first + 31 by their bits.
  void let_in(std::uint64_t cards, unsigned first = 0) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&cards);
    const auto offset = abi::HccsAccess::kOffset + abi::HccsWord::offset_of(first);
    EXPECT_TRUE(registers.bank().host_write(offset, bytes, sizeof cards));
  }
  // A request for `address` of card `peer`; gives its number. Bytes go from and to `data`.
  std::uint64_t issue(bool write, unsigned peer, std::uint64_t address, unsigned char* data,
                      unsigned length, unsigned flow = 0) {
    auto& trans = sim_.pool.allocate(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                                     address, data, length);
    auto& info = model::Transaction::of(trans);
    info.peer = static_cast<std::uint16_t>(peer + 1);
    info.flow = static_cast<std::uint8_t>(flow);
    info.context = issued_++;
    in_call_ = true;
    EXPECT_EQ(send_request(mmu, trans), tlm::TLM_ACCEPTED);
    in_call_ = false;
    return info.context;
  }
  // As many of 4 KiB, all at once, from or to the same buffer.
  void issue_many(bool write, unsigned peer, unsigned count, unsigned flow = 0) {
    for (unsigned i = 0; i < count; ++i) issue(write, peer, 4096 * i, buffer.data(), 4096, flow);
  }
  const Answer& answer(std::uint64_t id) const {
    for (const auto& each : answers) {
      if (each.id == id) return each;
    }
    ADD_FAILURE() << "request " << id << " was not answered";
    static const Answer kNone{};
    return kNone;
  }

  model::CardRegisters registers;
  StandInMemory memory;
  model::HccsPort port;
  tlm_utils::simple_initiator_socket<LinkCard> mmu{"mmu"};
  tlm_utils::simple_initiator_socket<LinkCard> bar0{"bar0"};  // unused
  std::vector<Answer> answers;
  std::vector<unsigned char> buffer = std::vector<unsigned char>(4096, 0x5A);

 private:
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time&) {
    EXPECT_FALSE(in_call_) << "a response never comes inside the request's call";
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    const auto& info = model::Transaction::of(trans);
    EXPECT_EQ(trans.is_response_ok(), info.completion == Completion::kSuccess);
    answers.push_back({info.context, model::sim_now(), info.completion});
    trans.release();
    return tlm::TLM_COMPLETED;
  }

  model::Simulation& sim_;
  std::uint64_t issued_ = 0;
  bool in_call_ = false;
};

inline model::FabricConfig all_cards(model::FabricForm form) {
  model::FabricConfig fabric;
  fabric.parts.emplace_back();
  fabric.parts.back().form = form;
  return fabric;
}

// Cards and what connects them; several may share a simulation.
struct LinkWorld {
  LinkWorld(const std::string& prefix, model::Simulation& sim, unsigned count,
            const model::ChipConfig& chip, const model::FabricConfig& fabric) {
    system.cards.assign(count, chip);
    system.fabric = fabric;
    for (unsigned i = 0; i < count; ++i) {
      const auto name = prefix + "card" + std::to_string(i);
      cards.push_back(std::make_unique<LinkCard>(name.c_str(), sim, system.cards[i], i));
    }
    net = std::make_unique<model::HccsFabric>((prefix + "fabric").c_str(), sim, system);
    for (unsigned i = 0; i < count; ++i) cards[i]->port.connect(*net, i);
  }

  // Of the plan, by the names of its nodes.
  std::size_t link(const std::string& a, const std::string& b) const {
    const auto& plan = net->plan();
    const auto node = [&plan](const std::string& name) {
      unsigned i = 0;
      while (i < plan.nodes.size() && plan.nodes[i].name != name) ++i;
      return i;
    };
    const auto found = plan.between(node(a), node(b));
    EXPECT_TRUE(found) << a << " and " << b;
    return found.value_or(0);
  }

  model::SystemConfig system{};
  std::vector<std::unique_ptr<LinkCard>> cards;
  std::unique_ptr<model::HccsFabric> net;
};

class LinkBench {
 public:
  explicit LinkBench(unsigned count = 2, const model::ChipConfig& chip = link_chip_config(),
                     const model::FabricConfig& fabric = all_cards(model::FabricForm::kFullMesh))
      : world("", sim, count, chip, fabric) {
    run(0);
  }

  LinkCard& card(unsigned index) { return *world.cards[index]; }
  model::HccsFabric& net() { return *world.net; }
  std::size_t link(const std::string& a, const std::string& b) const { return world.link(a, b); }
  void run(SimTime time) { sc_core::sc_start(sc_core::sc_time::from_value(time)); }

  model::Simulation sim;
  LinkWorld world;
};

inline constexpr SimTime kMicrosecond = 1'000'000;

}  // namespace npu::test
