// SPDX-License-Identifier: Apache-2.0
// A PCI Express link between two ports: two directions, each a FIFO on its own timeline, so that
// nothing overtakes a posted write.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <systemc>

#include "model/core/simulation.hpp"
#include "model/pcie/config_space.hpp"
#include "model/pcie/link_direction.hpp"
#include "model/pcie/link_state.hpp"

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
  // interrupts vanish, also those on the wire. What is below is reset.
  void set_down(bool down);
  // The same by the port above, while its Secondary Bus Reset is set (PCIe 7.5.1.3.13).
  void hold_in_reset(bool held);
  bool is_down() const { return is_down_; }
  // Recovery to another rate and width, not above the configured ones: nothing is sent for
  // kRecovery, and what is on the wire arrives (PCIe 4.2.6.4).
  void retrain(unsigned generation, unsigned lanes);
  // The next TLP in this direction arrives with a bad LCRC, and is sent again.
  enum class Towards { kDownstream, kUpstream };
  void damage_next(Towards towards);
  // Other correctable errors: the receiver sees what is no symbol, and the link goes to Recovery;
  // it drops a damaged DLLP, and the next one says the same; the next TLP is sent again so often
  // that the link goes to Recovery; an acknowledgement is lost, and the TLP is sent once more when
  // nothing else is (PCIe 4.2.6, 3.6.2.2, 3.6.2.1).
  enum class Correctable { kReceiver, kBadDllp, kRollover, kTimeout };
  void correctable(Towards towards, Correctable error);
  // A completion that nobody has asked for: told by its receiver, and dropped (PCIe 2.3.2).
  void send_stray_completion(Towards towards);
  // The next TLP to the port above has the error, a bit of AER's uncorrectable status; of
  // kAerPoisoned: the next memory write. The port logs it, drops it and contains it (PCIe 6.2.10):
  // the link is down for this time, so that nothing behind it arrives.
  void drop_next_upstream(std::uint32_t error, Picoseconds contained) {
    upstream_errors_.push_back({error, contained});
  }
  std::size_t armed_errors() const { return upstream_errors_.size(); }
  // As the port at one end, the upper or the lower one, knows it.
  enum class End { kUpper, kLower };
  LinkState state(End end) const;
  // What is on the wire is lost; what is below is reset (PCIe 6.6.1, 2.9.1).
  void hot_reset();
  void attach_below(ConfigTarget& below) { below_ = &below; }
  // Called when the link is up again after a removal.
  void on_return(std::function<void()> returned) { returned_ = std::move(returned); }

  const LinkStatistics& downstream_statistics() const { return down_.direction.statistics(); }
  const LinkStatistics& upstream_statistics() const { return up_.direction.statistics(); }

  // For a sender that must know when what it hands over will have left.
  SimTime upstream_free_at() const { return up_.direction.free_at(); }
  SimTime downstream_free_at() const { return down_.direction.free_at(); }
  std::uint64_t wire_time(Bytes bytes) const { return up_.direction.wire_time(bytes); }
  std::uint64_t upstream_time(const Payload& payload) const;  // wire time of a request

 private:
  struct Side {
    LinkDirection direction;
    std::uint32_t track = 0;
    SimTime lost_before = 0;  // what arrives before then went under with the link
  };
  struct UpstreamError {
    std::uint32_t bit;
    Picoseconds contained;
  };
  void update();
  void find_error(const Payload& payload, bool is_completion);
  void contain(Picoseconds time);
  void released(std::uint64_t);
  void stray_arrived(std::uint64_t towards);
  void log(Towards receiver, const PortError& error);
  void lose(Side& side) const;
  bool is_lost(const Side& side) const {
    return is_down_ || (side.lost_before != 0 && sim_now() < side.lost_before);
  }
  LinkDirection::Slot send(Side& side, const Payload& payload, const TlpTrain& train);
  template <auto Arrive>
  void request(Side& side, Payload& payload, sc_core::sc_time& delay);
  template <auto Arrive>
  void completion(Side& side, Payload& payload);
  template <class Receiver, class Back>
  void arrive_request(Side& side, Receiver& receiver, Back& back, Payload& payload);
  template <class Receiver>
  void arrive_completion(const Side& side, Receiver& receiver, Payload& payload);

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
  Side down_;
  Side up_;
  ConfigTarget* below_ = nullptr;
  std::function<void()> returned_;
  std::vector<UpstreamError> upstream_errors_;  // that TLPs are to meet
  std::vector<PortError> found_above_, found_below_;
  bool removed_ = false;
  bool held_ = false;
  unsigned contained_ = 0;
  bool is_gone_ = false;  // removed or contained
  bool is_down_ = false;
  unsigned transitions_ = 0;
  unsigned generation_;  // as trained
  unsigned lanes_;
};

}  // namespace npu::model
