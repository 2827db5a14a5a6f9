// SPDX-License-Identifier: Apache-2.0
// Between the ports that DMA engines and other cards have at the HBM and the HBM itself: turns a
// write that reduces (Transaction::reduction) into a read and a write of the HBM, both with their
// time. What the read has found and the data are combined when the read has been answered, together
// with the write, so that nothing comes between. Everything else passes through at once.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"

namespace npu::model {

class ReduceUnit : public sc_core::sc_module, public ResetListener {
 public:
  enum Port : unsigned { kEngines, kPeers, kPorts };

  ReduceUnit(const sc_core::sc_module_name& name, Simulation& sim);

  // By Port. Device-local addresses; nobody's data are needed after the response.
  sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<ReduceUnit>> client_sockets;
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<ReduceUnit>> hbm_sockets;

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

  tlm::tlm_sync_enum request(int port, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int port, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  unsigned look(int port, tlm::tlm_generic_payload& trans);
  void send(int port, tlm::tlm_generic_payload& access, std::uint32_t number);
  void combine(int port, std::uint32_t number);
  void answer(int port, std::uint32_t number, Completion completion);

  Simulation& sim_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_;
  std::vector<unsigned char> bytes_;  // of the access that is being combined
};

// Each element of `to` becomes operation(to, from); can_reduce().
void reduce_elements(abi::ElementType type, abi::ReduceOperation operation, unsigned char* to,
                     const unsigned char* from, std::size_t bytes);

}  // namespace npu::model
