// SPDX-License-Identifier: Apache-2.0
// An HCCS link between two cards: both directions independent, each an HccsWire.
//
// Protocol: model/core/transaction.hpp, with responses for everything. A port sends requests into
// the target socket of its side, 0 or 1; they come out of the initiator socket of the other side,
// and responses take the way back. A message moves no bytes: the payload travels with its buffer.
// Transaction::issued is when the request was sent, Transaction::flow whose share it uses.
// A request is always answered: if the link is down, or goes down before the response is back, with
// TLM_GENERIC_ERROR_RESPONSE and kPeerLinkDown - at once if it was down, else `response_timeout`
// after it was sent.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <systemc>

#include "model/link/hccs_wire.hpp"

namespace npu::model {

class HccsLink : public sc_core::sc_module, private HccsWire::Listener {
 public:
  using TargetSocket = tlm_utils::simple_target_socket_tagged<HccsLink>;
  using InitiatorSocket = tlm_utils::simple_initiator_socket_tagged<HccsLink>;

  // The ports' configurations, by side.
  HccsLink(const sc_core::sc_module_name& name, Simulation& sim, const HccsConfig& side0,
           const HccsConfig& side1);

  std::array<TargetSocket, 2> target_sockets{TargetSocket{"target0"}, TargetSocket{"target1"}};
  std::array<InitiatorSocket, 2> initiator_sockets{InitiatorSocket{"initiator0"},
                                                   InitiatorSocket{"initiator1"}};

  bool up() const { return up_; }
  void set_up(bool up);
  // From side `side` to the other.
  const HccsWire& wire(unsigned side) const { return wires_[side]; }

 private:
  tlm::tlm_sync_enum request(int side, tlm::tlm_generic_payload& message, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int side, tlm::tlm_generic_payload& message, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void arrived(unsigned wire, tlm::tlm_generic_payload& message, bool response) override;
  bool lost(tlm::tlm_generic_payload& message) const;
  void fail(unsigned side, tlm::tlm_generic_payload& message, SimTime when);
  void answer(unsigned side, tlm::tlm_generic_payload& message);
  void give_up(std::uint64_t pointer_and_side);

  Simulation& sim_;
  const std::array<SimTime, 2> timeouts_;
  std::array<HccsWire, 2> wires_;
  bool up_ = true;
  SimTime first_whole_ = 0;  // what was sent before is lost
};

}  // namespace npu::model
