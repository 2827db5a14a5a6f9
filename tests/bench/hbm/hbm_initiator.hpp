// SPDX-License-Identifier: Apache-2.0
// An HBM with one initiator per port, for tests and benchmarks at the socket.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/core/simulation.hpp"
#include "model/hbm/hbm.hpp"

namespace npu::model::test {

class HbmInitiator : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
 public:
  HbmInitiator(const sc_core::sc_module_name& name, Simulation& simulation)
      : sc_module(name), simulation_(simulation) {
    socket.bind(*this);
  }

  tlm::tlm_initiator_socket<> socket{"socket"};
  // Called with each response, after it was counted; the payload is released afterwards.
  std::function<void(tlm::tlm_generic_payload&)> on_response;
  std::size_t responses = 0;
  SimTime last_response = 0;

  void issue(bool write, std::uint64_t address, void* data, unsigned length, bool posted = false,
             std::uint64_t context = 0) {
    auto& payload =
        simulation_.pool.allocate(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address,
                                  static_cast<unsigned char*>(data), length);
    Transaction::of(payload).posted = posted;
    Transaction::of(payload).context = context;
    send(payload);
  }
  // `rows` pieces, `pitch` apart; without data (timing only) if null.
  void issue_strided(bool write, std::uint64_t address, void* data, unsigned length, unsigned rows,
                     std::uint32_t pitch) {
    const auto command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    auto& payload = simulation_.pool.allocate_timing(command, address, length);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    Transaction::of(payload).rows = static_cast<std::uint16_t>(rows);
    Transaction::of(payload).pitch = pitch;
    send(payload);
  }
  void send(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const auto answer = socket->nb_transport_fw(payload, phase, delay);
    sc_assert(answer == tlm::TLM_ACCEPTED);
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) override {
    sc_assert(phase == tlm::BEGIN_RESP);
    ++responses;
    last_response = sim_now();
    if (on_response) on_response(payload);
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  Simulation& simulation_;
};

// One HBM and the initiators of its ports.
struct HbmSystem {
  explicit HbmSystem(const HbmConfig& config, unsigned ports = 1)
      : hbm("hbm", simulation, config, ports, "hbm") {
    for (unsigned i = 0; i < ports; ++i) {
      initiators.push_back(
          std::make_unique<HbmInitiator>(("initiator" + std::to_string(i)).c_str(), simulation));
      initiators[i]->socket.bind(hbm.port_sockets[i]);
    }
  }
  HbmInitiator& port(unsigned i = 0) { return *initiators[i]; }
  static void run(SimTime time = 0) {
    if (time == 0) {
      sc_core::sc_start();
    } else {
      sc_core::sc_start(sc_core::sc_time::from_value(time));
    }
  }

  Simulation simulation;
  Hbm hbm;
  std::vector<std::unique_ptr<HbmInitiator>> initiators;
};

}  // namespace npu::model::test
