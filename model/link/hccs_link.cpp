// SPDX-License-Identifier: Apache-2.0
#include "model/link/hccs_link.hpp"

#include <algorithm>

namespace npu::model {

HccsLink::HccsLink(const sc_core::sc_module_name& name, Simulation& sim, const HccsConfig& side0,
                   const HccsConfig& side1)
    : sc_module(name),
      sim_(sim),
      timeouts_{ticks(side0.response_timeout), ticks(side1.response_timeout)},
      wires_{
          HccsWire(sim, side0, side1.receive_buffer, 0, *this, std::string(this->name()) + ".up"),
          HccsWire(sim, side1, side0.receive_buffer, 1, *this,
                   std::string(this->name()) + ".down")} {
  for (int side = 0; side < 2; ++side) {
    const auto index = static_cast<unsigned>(side);
    target_sockets[index].register_nb_transport_fw(this, &HccsLink::request, side);
    initiator_sockets[index].register_nb_transport_bw(this, &HccsLink::response, side);
  }
}

void HccsLink::set_up(bool up) {
  if (up_ && !up) first_whole_ = sim_now() + 1;
  up_ = up;
}

bool HccsLink::lost(tlm::tlm_generic_payload& message) const {
  return !up_ || Transaction::of(message).issued < first_whole_;
}

tlm::tlm_sync_enum HccsLink::request(int side, tlm::tlm_generic_payload& message, tlm::tlm_phase&,
                                     sc_core::sc_time&) {
  const auto from = static_cast<unsigned>(side);
  if (up_) {
    wires_[from].send(message, false);
  } else {
    fail(from, message, sim_now());
  }
  return tlm::TLM_ACCEPTED;
}

// From the card on `side`, to what came in from the other side.
tlm::tlm_sync_enum HccsLink::response(int side, tlm::tlm_generic_payload& message, tlm::tlm_phase&,
                                      sc_core::sc_time&) {
  wires_[static_cast<unsigned>(side)].send(message, true);
  return tlm::TLM_COMPLETED;
}

void HccsLink::arrived(unsigned wire, tlm::tlm_generic_payload& message, bool is_response) {
  const unsigned origin = is_response ? 1 - wire : wire;
  if (is_response || lost(message)) {
    // With the response the receiver's buffer is known to be free again.
    wires_[origin].give_back(HccsWire::request_data(message));
  }
  if (lost(message)) {
    fail(origin, message, std::max(sim_now(), Transaction::of(message).issued + timeouts_[origin]));
  } else if (is_response) {
    answer(origin, message);
  } else {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    auto delay = sc_core::SC_ZERO_TIME;
    initiator_sockets[1 - origin]->nb_transport_fw(message, phase, delay);
  }
}

void HccsLink::fail(unsigned side, tlm::tlm_generic_payload& message, SimTime when) {
  Transaction::of(message).completion = Completion::kPeerLinkDown;
  message.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  sim_.agenda.at<&HccsLink::give_up>(when, *this,
                                     reinterpret_cast<std::uintptr_t>(&message) | side);
}

void HccsLink::give_up(std::uint64_t pointer_and_side) {
  const auto pointer = static_cast<std::uintptr_t>(pointer_and_side & ~std::uint64_t{1});
  answer(static_cast<unsigned>(pointer_and_side & 1),
         *reinterpret_cast<tlm::tlm_generic_payload*>(pointer));
}

void HccsLink::answer(unsigned side, tlm::tlm_generic_payload& message) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  target_sockets[side]->nb_transport_bw(message, phase, delay);
}

}  // namespace npu::model
