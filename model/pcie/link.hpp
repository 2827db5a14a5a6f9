// SPDX-License-Identifier: Apache-2.0
// A PCI Express link between two ports: two directions, each a FIFO on its own timeline, so that
// nothing overtakes a posted write.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>

#include "model/core/simulation.hpp"
#include "model/pcie/link_direction.hpp"

namespace npu::model {

class Link : public sc_core::sc_module {
 public:
  using Payload = tlm::tlm_generic_payload;

  // Requests from the upstream port leave at downstream_initiator, those of the downstream port at
  // upstream_initiator; completions travel back through the same pair. On return from
  // nb_transport_fw into a link `delay` is the time until the transmitter has sent the last byte.
  // A receiver may return in `delay` how long its buffers are full; nothing more is sent to it
  // until then.
  tlm_utils::passthrough_target_socket<Link> upstream_target;
  tlm_utils::simple_initiator_socket<Link> downstream_initiator;
  tlm_utils::passthrough_target_socket<Link> downstream_target;
  tlm_utils::simple_initiator_socket<Link> upstream_initiator;

  struct Receivers {  // how long each end's buffers hold a TLP
    Picoseconds upstream_hold;
    Picoseconds downstream_hold;
  };
  Link(const sc_core::sc_module_name& name, Simulation& simulation, const LinkConfig& config,
       Bytes read_completion_boundary, Receivers receivers);

  const LinkConfig& config() const { return config_; }
  // Surprise removal: reads complete as unsupported requests with all-ones data, writes and
  // interrupts vanish, also those on the wire.
  void set_down(bool down) { is_down_ = down; }
  bool is_down() const { return is_down_; }

  const LinkStatistics& downstream_statistics() const { return downstream_.statistics(); }
  const LinkStatistics& upstream_statistics() const { return upstream_.statistics(); }

  // When a request handed to the transmitter at `now` would have left.
  SimTime upstream_sent(SimTime now, const Payload& payload) const;

 private:
  struct Side {
    LinkDirection direction;
    std::uint32_t track;
  };
  SimTime send(LinkDirection& direction, std::uint32_t track, Payload& payload,
               const TlpTrain& train, SimTime* arrival);
  tlm::tlm_sync_enum request_down(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum request_up(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum completion_up(Payload& payload, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  tlm::tlm_sync_enum completion_down(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void arrive_request_down(std::uint64_t payload);
  void arrive_request_up(std::uint64_t payload);
  void arrive_completion_up(std::uint64_t payload);
  void arrive_completion_down(std::uint64_t payload);

  Simulation& simulation_;
  LinkConfig config_;
  Bytes boundary_;
  LinkDirection downstream_;
  LinkDirection upstream_;
  std::uint32_t downstream_track_;
  std::uint32_t upstream_track_;
  bool is_down_ = false;
};

}  // namespace npu::model
