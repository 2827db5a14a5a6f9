// SPDX-License-Identifier: Apache-2.0
// What connects the HCCS ports of a system's cards: links, and switches and NICs on the ways
// between them (SystemConfig::fabric).
//
// Protocol: model/core/transaction.hpp, with responses for everything. A port sends requests for
// the card Transaction::peer - 1 into its target socket; they come out of the initiator socket of
// that card, and responses go back the same way. A message moves no bytes: the payload travels with
// its buffer. Transaction::issued is when the request was sent, Transaction::flow whose share it
// uses. A request is always answered. Where there is no way, or a link of its way goes down before
// the response is back, that is TLM_GENERIC_ERROR_RESPONSE and kPeerLinkDown: at once if there is
// no way, else response_timeout of the sender after it was sent. The next request takes another
// way, if there is one. transport_dbg goes the same way without time: Transaction::context of what
// comes out is the card that asks. 0 and kPeerLinkDown: there is no way.
//
// Buffers: a switch or NIC holds data in the buffer of the link that it came by until it has left,
// a card data of requests until their responses are back. Each link has buffers for requests and
// for responses, and for each place on their ways, and a message waits for the buffer of the next
// place only. The last one empties: memory answers, and who asked has room for the answer. So no
// messages wait for each other in a circle, whatever the links and ways are, and requests never
// hold up responses.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/link/fabric_routes.hpp"
#include "model/link/fabric_wire.hpp"

namespace npu::model {

class HccsFabric : public sc_core::sc_module, private FabricWire::Listener {
 public:
  using TargetSocket = tlm_utils::passthrough_target_socket_tagged_optional<HccsFabric>;
  using InitiatorSocket = tlm_utils::simple_initiator_socket_tagged_optional<HccsFabric>;

  // `config` has passed check_system().
  HccsFabric(const sc_core::sc_module_name& name, Simulation& sim, const SystemConfig& config);

  TargetSocket& target_socket(unsigned card) { return *ends_[card]->target; }
  InitiatorSocket& initiator_socket(unsigned card) { return *ends_[card]->initiator; }

  unsigned cards() const { return static_cast<unsigned>(ends_.size()); }
  // Whether there has been a way at the beginning, and whether there is one.
  bool knows(unsigned from, unsigned to) const;
  bool reaches(unsigned from, unsigned to) const;
  // What one flow of a card may have outstanding of reads, and of writes, where the way to the
  // other goes over a NIC: the buffer of its first link. 0: it does not, and the card's own limits
  // hold.
  Bytes nic_window(unsigned from, unsigned to) const { return nic_windows_[from][to]; }
  // Who has sent the request that has come to a card.
  unsigned origin(const tlm::tlm_generic_payload& message) const;
  // Requests and responses that have left one card for the other.
  std::uint64_t messages(unsigned from, unsigned to) const { return messages_[from][to]; }

  const FabricPlan& plan() const { return plan_; }
  void set_up(std::size_t link, bool up);
  // Of a link of the plan, from its lower node (0) or to it (1).
  const FabricWire& wire(std::size_t link, unsigned side) const { return *wires_[2 * link + side]; }

 private:
  static constexpr SimTime kNever = ~SimTime{0};
  struct Hop {
    FabricWire* wire;
    FabricWire* back;  // the other direction of its link
    unsigned pool;     // at its receiver
    SimTime latency;   // of its receiver, if that passes messages on
    FabricForwarding forwarding;
  };
  // Ways stay, for messages on them, when the routes change.
  struct Way {
    unsigned from, to;
    std::vector<Hop> hops[2];  // of requests, of responses; none: it leads nowhere
  };
  struct End {
    std::unique_ptr<TargetSocket> target;
    std::unique_ptr<InitiatorSocket> initiator;
    SimTime timeout;
  };
  // Where a message is: Transaction::sender_states has it.
  struct Place {
    unsigned way, hop;
  };

  tlm::tlm_sync_enum request(int card, tlm::tlm_generic_payload& message, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int card, tlm::tlm_generic_payload& message, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  unsigned debug(int card, tlm::tlm_generic_payload& message);
  SimTime leaves(unsigned wire, tlm::tlm_generic_payload& message, bool response,
                 const FabricWire::Passage& passage) override;
  void arrived(unsigned wire, tlm::tlm_generic_payload& message, bool response) override;
  Bytes measure_nic_window(unsigned from, unsigned to) const;
  unsigned way_for(unsigned from, unsigned to, unsigned flow);
  static Place place_of(const tlm::tlm_generic_payload& message);
  void add_hop(Way& way, bool response, FabricRoutes::Step step, std::size_t count);
  void forward(tlm::tlm_generic_payload& message, bool response, std::uint32_t flow);
  bool lost(unsigned wire, const tlm::tlm_generic_payload& message) const;
  void fail(tlm::tlm_generic_payload& message, SimTime when);
  void answer(tlm::tlm_generic_payload& message);
  void give_up(std::uint64_t pointer);

  Simulation& sim_;
  const FabricPlan plan_;
  const FabricRouting routing_;
  FabricRoutes routes_;
  std::vector<std::vector<Bytes>> nic_windows_;     // from, to
  std::vector<std::vector<bool>> known_;            // from, to
  std::vector<std::unique_ptr<End>> ends_;          // by card
  std::vector<std::unique_ptr<FabricWire>> wires_;  // two of each link: from its lower node, to it
  std::vector<SimTime> first_whole_;                // by link: what was sent before is lost
  std::vector<SimTime> went_down_;                  // by link, last
  std::vector<std::unique_ptr<Way>> ways_;          // at first one of each card that leads nowhere
  std::vector<std::vector<std::vector<unsigned>>> chosen_;  // from, to, flow; 0: not yet
  std::vector<std::vector<std::uint64_t>> messages_;        // from, to
};

}  // namespace npu::model
