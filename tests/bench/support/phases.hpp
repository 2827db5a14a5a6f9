// SPDX-License-Identifier: Apache-2.0
// The phases of a transaction that benches send, each at once.
#pragma once

#include <tlm>

namespace npu::test {

template <class Socket>
tlm::tlm_sync_enum send_request(Socket& socket, tlm::tlm_generic_payload& trans) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  return socket->nb_transport_fw(trans, phase, delay);
}
template <class Socket>
void send_back(Socket& socket, tlm::tlm_generic_payload& trans, tlm::tlm_phase phase) {
  auto delay = sc_core::SC_ZERO_TIME;
  socket->nb_transport_bw(trans, phase, delay);
}

}  // namespace npu::test
