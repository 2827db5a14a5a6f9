// SPDX-License-Identifier: Apache-2.0
// The card's PCI Express endpoint: functions, BARs, MSI-X and the way out for its DMA.
//
// Times (EndpointConfig): what arrives reaches registers, memory or DMA after `ingress`; a register
// or configuration read takes `register_access` more; requests of the card leave after `egress`. A
// completion does at once, but for the writes posted before it, which it must not pass.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <systemc>
#include <utility>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/egress_queue.hpp"
#include "model/pcie/function_set.hpp"
#include "model/pcie/interrupt_faults.hpp"
#include "model/pcie/port.hpp"
#include "model/pcie/read_requester.hpp"

namespace npu::model {

class Endpoint : public sc_core::sc_module,
                 public InterruptPort,
                 public ConfigTarget,
                 public HostServicesPort,
                 private PortOwner,
                 private ReadRequester::Owner {
 public:
  using Payload = tlm::tlm_generic_payload;

  using InitiatorSocket = tlm_utils::simple_initiator_socket_optional<Endpoint>;
  // BAR0 of each of the chip's functions, b_transport, immediate; the address is the offset in
  // BAR0. The MSI-X structures are the endpoint's own and never appear here. The chip binds
  // those of virtual functions, too; where none is bound, an access is an unsupported request.
  sc_core::sc_vector<InitiatorSocket> register_sockets;
  // BAR2 of each, nb; the address is the offset in BAR2. As register_sockets.
  sc_core::sc_vector<InitiatorSocket> memory_sockets;
  // From the card's DMA, nb, for Transaction::function: reads and translations (non-posted) and
  // writes (posted), up to 4 KiB and not across a 4 KiB border; the address is a bus address. After
  // a posted write `delay` is the time until its last byte has left the card: who writes faster
  // than the link must wait for that. The data of a posted write must stay valid until its payload
  // is freed. A posted write that the function may not send (bus mastering off, D3, reset) comes
  // back at once: TLM_COMPLETED, with kCompleterAbort, and the initiator keeps its reference. At a
  // reset every read of the function still open completes with kCompleterAbort before the listeners
  // are told.
  sc_core::sc_vector<tlm_utils::passthrough_target_socket_tagged<Endpoint>> dma_sockets;

  Endpoint(const sc_core::sc_module_name& name, Simulation& simulation, const ChipConfig& chip,
           unsigned dma_ports, unsigned functions = 1);
  ~Endpoint() override;

  PciePort& port() { return port_; }
  // Packed BDF of a function of the chip.
  std::uint32_t requester(unsigned function = 0) const {
    return functions_.requester(functions_.of_chip(function));
  }
  const ChipConfig& chip() const { return chip_; }
  Picoseconds receiver_hold() const { return chip_.endpoint.ingress; }

  // InterruptPort. Leaves behind everything sent before; masked: sets the pending bit.
  void raise(unsigned function, unsigned vector, std::uint64_t cause) override;
  bool config_access(ConfigRequest& request) override;
  // The link is down or in hot reset: all functions are reset, what they had in flight is lost.
  void hot_reset() override;
  // The device behind a function has ended: the function is as after a reset, and answers.
  void reset_at_once(unsigned function);
  // When the last reset of function 0 is over.
  SimTime ready_at() const { return functions_.first().ready_at(); }
  // What is behind the function takes this long to be reset.
  void set_reset_time(unsigned function, Picoseconds time) {
    functions_.set_reset_time(function, time);
  }
  void add_reset_listener(ResetListener& listener) { listeners_.push_back(&listener); }
  // Called with the function when an ATS Invalidate Request for it has arrived. True: what it has
  // cached is gone and in use no more; false: it will be, and then invalidated(request) is called.
  using InvalidationListener = std::function<bool(unsigned function, std::uint64_t request)>;
  void on_invalidation(InvalidationListener listener) { on_invalidation_ = std::move(listener); }
  void invalidated(std::uint64_t request);
  // Called when a PRG Response has come; false: the function has asked for nothing like it.
  using PageResponseListener = std::function<bool(unsigned function, const PageResponseMessage&)>;
  void on_page_response(PageResponseListener listener) { on_page_response_ = std::move(listener); }
  // HostServicesPort
  bool translations_enabled(unsigned function) const override {
    return functions_.of_chip(function).ats_enabled() && functions_.pasid_enabled(function);
  }
  unsigned page_requests(unsigned function) const override {
    return functions_.of_chip(function).page_requests();
  }
  void set_page_request_status(unsigned function, std::uint16_t bits) override {
    functions_.of_chip(function).set_page_request_status(bits);
  }
  std::uint32_t requester_of(unsigned function) const override { return requester(function); }
  void add_write_loss_listener(WriteLossListener& listener) {
    loss_listeners_.push_back(&listener);
  }

  // Faults for tests: one completion each, sent to the host or received for the card's reads.
  enum class CompletionSide { kSent, kReceived };
  void poison_next_completion(CompletionSide side) {
    fail_next_completion(side, CompletionFault::kPoison);
  }
  void drop_next_completion(CompletionSide side) {
    fail_next_completion(side, CompletionFault::kDrop);
  }
  void refuse_next_completion(CompletionSide side, bool aborts) {
    fail_next_completion(side, aborts ? CompletionFault::kAbort : CompletionFault::kUnsupported);
  }
  // The next TLP that the card receives has the error, a bit of AER's uncorrectable status: it is
  // logged and dropped. Loss listeners of all functions are told, with address 0.
  void drop_next_received(std::uint32_t error) { next_received_error_ = error; }
  // The next write of the host arrives poisoned (EP, PCIe 2.7.2): it is logged and dropped, and its
  // function's loss listeners are told.
  void poison_next_write() { next_write_poisoned_ = true; }
  // Of messages that are sent from now on.
  void fault_next_interrupt(const InterruptFault& fault) { interrupt_faults_.arm(fault); }
  // Of these three, those that have met nothing.
  std::size_t armed_faults() const {
    return interrupt_faults_.armed() + (next_write_poisoned_ ? 1U : 0U) +
           (next_received_error_ != 0 ? 1U : 0U);
  }
  // As software that writes the entry's mask bit. The vector is one of the function's table.
  void mask_vector(unsigned function, unsigned vector, bool masked);
  unsigned vectors(unsigned function) const {
    return functions_.of_chip(function).msix().vectors();
  }
  std::size_t outstanding_reads() const { return reads_.outstanding(); }

 private:
  using Place = FunctionSet::Place;

  void fail_next_completion(CompletionSide side, CompletionFault fault);
  void drop(Payload& payload);
  void drop_poisoned(EndpointFunction& function, Payload& payload);
  // from the link
  SimTime request_arrived(unsigned port, Payload& payload) override;
  void completion_arrived(unsigned port, Payload& wire) override;
  void serve(std::uint64_t handle);
  void serve_config(Payload& payload);
  void serve_invalidation(Payload& payload);
  void serve_page_response(Payload& payload);
  void serve_memory(Payload& payload);
  void access_registers(Payload& payload, const Place& place);
  bool access_msix(EndpointFunction& function, Payload& payload, Bytes offset);
  void undecoded(Payload& payload);
  void unsupported(EndpointFunction& function, Payload& payload);
  void finish(Payload& payload, Completion completion);
  tlm::tlm_sync_enum memory_response(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  // from the DMA
  tlm::tlm_sync_enum dma_request(int port, Payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay);
  tlm::tlm_sync_enum refuse_posted(Payload& payload);
  void send_read(Payload& wire) override { port_.send_request(wire); }
  void read_ended(unsigned port, Payload& client) override;
  // reset and interrupts
  void reset_behind(const FunctionSet::Devices& functions);
  void deliver_pending(EndpointFunction& function);
  void send_message(EndpointFunction& function, unsigned vector, std::uint64_t cause);
  void send_held(std::uint64_t handle) { egress_.post(payload_of(handle)); }
  Payload& make_message(const EndpointFunction& function, unsigned vector, std::uint64_t cause);

  Simulation& simulation_;
  ChipConfig chip_;
  PciePort port_;
  FunctionSet functions_;
  EgressQueue egress_;
  ReadRequester reads_;
  std::vector<ResetListener*> listeners_;
  std::vector<WriteLossListener*> loss_listeners_;
  InvalidationListener on_invalidation_;
  PageResponseListener on_page_response_;
  CompletionFault sent_fault_ = CompletionFault::kNone;
  std::uint32_t next_received_error_ = 0;  // 0: none
  bool next_write_poisoned_ = false;
  InterruptFaults interrupt_faults_;
  std::uint32_t track_;
};

}  // namespace npu::model
