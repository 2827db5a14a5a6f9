// SPDX-License-Identifier: Apache-2.0
// Between the ports that DMA engines and other cards have at the HBM and the HBM itself: turns a
// write that reduces (Transaction::reduction) into a read and a write of the HBM, both with their
// time. What the read has found and the data are combined when the read has been answered, together
// with the write, so that nothing comes between. Everything else passes through at once.
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"

namespace npu::model {

class ReduceUnit : public sc_core::sc_module, public ResetListener {
 public:
  enum PortNumber : unsigned { kEngines, kPeers, kPorts };

  ReduceUnit(const sc_core::sc_module_name& name, Simulation& sim);

  // By PortNumber. Device-local addresses; nobody's data are needed after the response.
  sc_core::sc_vector<tlm::tlm_target_socket<>> client_sockets;
  sc_core::sc_vector<tlm::tlm_initiator_socket<>> hbm_sockets;

  // Reductions of the function that have not been made are not made any more; of function 0 also
  // those of other cards. They are answered with kCompleterAbort.
  void function_reset(unsigned function) override;

 private:
  // A reduction, from its request to its answer.
  struct Pending {
    tlm::tlm_generic_payload* request = nullptr;
    unsigned function = 0;
    bool dropped = false;
  };

  // What both sockets of a port are bound to. No convenience sockets: everything that engines move
  // comes here, and their detours would be felt.
  class Port : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
   public:
    Port(ReduceUnit& unit, unsigned number) : unit_(unit), number_(number) {}
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& trans) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

   private:
    ReduceUnit& unit_;
    unsigned number_;
  };

  void begin(unsigned port, tlm::tlm_generic_payload& trans);
  void accessed(unsigned port, tlm::tlm_generic_payload& trans);
  void send(unsigned port, tlm::tlm_generic_payload& access, std::uint32_t number);
  void combine(unsigned port, std::uint32_t number);
  void answer(unsigned port, std::uint32_t number, Completion completion);

  Simulation& sim_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_;
  std::vector<unsigned char> bytes_;  // of the access that is being combined
};

}  // namespace npu::model
