// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/port.hpp"

#include <cstring>

namespace npu::model {

void refuse(tlm::tlm_generic_payload& payload, Completion completion) {
  Transaction::of(payload).completion = completion;
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  // A translation's payload is the answer, whatever direction was asked for.
  const bool has_data = payload.is_read() && payload.get_data_ptr() != nullptr;
  if (has_data) std::memset(payload.get_data_ptr(), 0xFF, payload.get_data_length());
}

PciePort::PciePort(const sc_core::sc_module_name& name, PortOwner& owner, unsigned number)
    : sc_module(name),
      initiator_socket("initiator_socket"),
      target_socket("target_socket"),
      owner_(owner),
      number_(number) {
  target_socket.register_nb_transport_fw(this, &PciePort::forward);
  initiator_socket.register_nb_transport_bw(this, &PciePort::backward);
}

void PciePort::connect_below(Link& link) {
  link_ = &link;
  initiator_socket.bind(link.upstream_target);
  link.upstream_initiator.bind(target_socket);
}

void PciePort::connect_above(Link& link) {
  link_ = &link;
  initiator_socket.bind(link.downstream_target);
  link.downstream_initiator.bind(target_socket);
}

SimTime PciePort::send_request(Payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  initiator_socket->nb_transport_fw(payload, phase, delay);
  return sim_now() + delay.value();
}

void PciePort::send_completion(Payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  target_socket->nb_transport_bw(payload, phase, delay);
}

tlm::tlm_sync_enum PciePort::forward(Payload& payload, tlm::tlm_phase&, sc_core::sc_time& delay) {
  delay = sc_core::sc_time::from_value(owner_.request_arrived(number_, payload));
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum PciePort::backward(Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
  owner_.completion_arrived(number_, payload);
  return tlm::TLM_COMPLETED;
}

}  // namespace npu::model
