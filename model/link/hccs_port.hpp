// SPDX-License-Identifier: Apache-2.0
// A card's port to the fabric, with all its links.
//
// Outwards: requests for other cards' memory (Transaction::peer) come from the MMU, reads and
// writes with responses, at most dma.device_chunk bytes. Each flow (Transaction::flow) has a
// bounded number of bytes of reads and of writes outstanding (over NICs: what these let it have,
// HccsFabric::nic_window); what exceeds that waits here in
// order. A write's bytes are taken when it leaves; its response means that they are in the peer's
// memory. Inwards: requests of other cards, if HCCS_ACCESS lets them in and the address is in the
// usable memory, go to the HBM `ingress` after they have arrived. Completions: kNoPeer,
// kPeerLinkDown, kPeerRefused, kUnsupportedRequest (address), kCompleterAbort (reset before it
// left).
//
// A write without data takes its time and moves nothing. transport_dbg, from the MMU or from the
// fabric, moves bytes at once, if the same rules let it; its Transaction has the completion.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/register_bank.hpp"
#include "model/core/simulation.hpp"
#include "model/link/hccs_fabric.hpp"
#include "model/link/hccs_payload_pool.hpp"
#include "model/link/message_queue.hpp"
#include "npu/abi/registers.hpp"

namespace npu::model {

class HccsPort : public sc_core::sc_module, public ResetListener {
 public:
  // Installs itself behind the HCCS registers of `bank`, function 0's; all references outlive the
  // module.
  HccsPort(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
           RegisterBank& bank);

  tlm_utils::passthrough_target_socket<HccsPort> peer_socket{"peer_socket"};
  // Device-local addresses.
  tlm_utils::simple_initiator_socket<HccsPort> memory_socket{"memory_socket"};

  // Tells `observer` of what other cards write by transport_dbg; of other writes the memory does.
  void observe_writes(WriteObserver& observer) { observer_ = &observer; }
  // As card `card` of the fabric. Before the simulation starts.
  void connect(HccsFabric& fabric, unsigned card);
  // Links are function 0's. Requests that wait here are answered with kCompleterAbort; what is on
  // its way moves no bytes into this card's buffers any more.
  void function_reset(unsigned function) override;
  // What function 0 has is another.
  void set_partition(const Partition& partition) { partition_ = partition; }

  const HccsConfig& config() const { return config_.hccs; }
  // What has gone to the card and come from it.
  std::uint64_t messages_sent(unsigned card) const;
  std::uint64_t messages_received(unsigned card) const;

 private:
  struct Outstanding {
    tlm::tlm_generic_payload* request = nullptr;
    bool dropped = false;  // a reset came in between
  };
  // Of one flow, reads or writes, over NICs or not.
  struct Window {
    Bytes limit = 0;
    Bytes outstanding = 0;
    MessageQueue queue;
  };

  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum peer_request(tlm::tlm_generic_payload& message, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
  unsigned debug(tlm::tlm_generic_payload& trans);
  unsigned peer_debug(tlm::tlm_generic_payload& message);
  abi::HccsLinks links(unsigned first) const;
  Completion admit(unsigned card, const tlm::tlm_generic_payload& message) const;
  tlm::tlm_sync_enum peer_response(tlm::tlm_generic_payload& message, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  tlm::tlm_sync_enum memory_response(tlm::tlm_generic_payload& message, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  Window& window_of(const tlm::tlm_generic_payload& trans);
  static bool fits(const Window& window, const tlm::tlm_generic_payload& trans);
  void pump(Window& window);
  void send(Window& window, tlm::tlm_generic_payload& trans);
  void enter(std::uint64_t pointer);
  void refuse(tlm::tlm_generic_payload& message, Completion completion);
  bool is_usable(Bytes address, Bytes length) const;
  void respond(tlm::tlm_generic_payload& message);
  void fail(tlm::tlm_generic_payload& trans, Completion completion);
  void answer(std::uint64_t pointer);

  Simulation& sim_;
  const ChipConfig& config_;
  Partition partition_;  // function 0's, whose memory peers reach
  RegisterBank& bank_;
  HccsPayloadPool pool_;
  WriteObserver* observer_ = nullptr;
  HccsFabric* fabric_ = nullptr;                // null: the card stands alone
  unsigned own_ = 0;                            // its number there
  std::vector<std::array<Window, 4>> windows_;  // by flow; reads, writes, and over NICs
  std::vector<Outstanding> outstanding_;
  std::vector<std::uint32_t> free_;  // places in outstanding_
  tlm_utils::simple_initiator_socket_optional<HccsPort> fabric_out_{"fabric_out"};
  tlm_utils::passthrough_target_socket_optional<HccsPort> fabric_in_{"fabric_in"};
};

}  // namespace npu::model
