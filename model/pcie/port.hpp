// SPDX-License-Identifier: Apache-2.0
// One end of a link: the socket pair that every root port, switch port and endpoint has.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <systemc>

#include "model/core/simulation.hpp"
#include "model/pcie/link.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {

// The agenda carries payloads as integers.
inline std::uint64_t handle_of(tlm::tlm_generic_payload& payload) {
  return reinterpret_cast<std::uintptr_t>(&payload);
}
inline tlm::tlm_generic_payload& payload_of(std::uint64_t handle) {
  static_assert(sizeof handle == sizeof(void*), "payloads are addressed with 64 bits");
  tlm::tlm_generic_payload* payload = nullptr;
  std::memcpy(&payload, &handle, sizeof handle);
  return *payload;
}

// Ends a request without success: reads see all ones (PCIe 2.3.2).
void refuse(tlm::tlm_generic_payload& payload, Completion completion);

class PortOwner {
 public:
  virtual ~PortOwner() = default;
  // A request from the far end. Returns how long the buffers are full after it (usually 0).
  virtual SimTime request_arrived(unsigned port, tlm::tlm_generic_payload& payload) = 0;
  virtual void completion_arrived(unsigned port, tlm::tlm_generic_payload& payload) = 0;
};

class PciePort : public sc_core::sc_module {
 public:
  using Payload = tlm::tlm_generic_payload;
  tlm_utils::simple_initiator_socket<PciePort> initiator_socket;
  tlm_utils::passthrough_target_socket<PciePort> target_socket;

  // `number` is handed back to the owner with everything that arrives.
  PciePort(const sc_core::sc_module_name& name, PortOwner& owner, unsigned number);

  void connect_below(Link& link);  // this port is the upstream end of `link`
  void connect_above(Link& link);  // this port is the downstream end of `link`
  Link* link() const { return link_; }

  // Returns when the last byte leaves the transmitter.
  SimTime send_request(Payload& payload);
  void send_completion(Payload& payload);

 private:
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);

  PortOwner& owner_;
  unsigned number_;
  Link* link_ = nullptr;
};

}  // namespace npu::model
