// SPDX-License-Identifier: Apache-2.0
// Splits BAR2 of a function into the stream windows, the doorbell pages and device memory
// (include/npu/abi/layout.hpp). BAR2 offset x is address x of the
// function's memory.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "model/core/simulation.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

class Bar2Decoder : public sc_core::sc_module {
 public:
  Bar2Decoder(const sc_core::sc_module_name& name, Simulation& sim, CardRegisters& registers);

  // nb protocol of model/core/transaction.hpp. An access that lies neither whole in the stream
  // windows, nor whole in the doorbell pages, nor whole in device memory ends as
  // kUnsupportedRequest; if posted, it vanishes.
  tlm_utils::passthrough_target_socket<Bar2Decoder> memory_socket{"memory_socket"};
  // The card's memory: the function's begins at its partition's base.
  tlm_utils::simple_initiator_socket<Bar2Decoder> hbm_socket{"hbm_socket"};
  // Writes to doorbell pages, b_transport, from the start of page 0; reads give 0. Unbound where
  // there is no command processor: device memory then.
  tlm_utils::simple_initiator_socket_optional<Bar2Decoder> doorbell_socket{"doorbell_socket"};

 private:
  tlm::tlm_sync_enum from_host(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay);
  tlm::tlm_sync_enum from_memory(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay);
  Completion access_stream(tlm::tlm_generic_payload& trans);
  Completion access_doorbell(tlm::tlm_generic_payload& trans);
  void finish(tlm::tlm_generic_payload& trans, Completion completion);
  void respond(std::uint64_t trans);

  Simulation& sim_;
  const CardRegisters& registers_;
  StreamRegisters& streams_;
};

}  // namespace npu::model
