// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/endpoint.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "model/pcie/tlp.hpp"
#include "npu/abi/layout.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr Bytes kMaxDmaRequest = 4096;
constexpr std::uint32_t kAerInternalError = 1 << 22;

}  // namespace

Endpoint::Endpoint(const sc_core::sc_module_name& name, Simulation& simulation,
                   const ChipConfig& chip, unsigned dma_ports, unsigned functions)
    : sc_module(name),
      register_sockets("register_socket", chip.functions()),
      memory_sockets("memory_socket", chip.functions()),
      dma_sockets("dma_socket", dma_ports),
      simulation_(simulation),
      chip_(chip),
      port_("port", *this, 0),
      functions_(chip_, functions),
      egress_(simulation, functions_, port_, chip.endpoint.egress),
      reads_(simulation, chip_.endpoint, functions_, *this),
      track_(simulation.recorder.track(std::string(this->name()) + ".endpoint")) {
  for (auto& socket : memory_sockets) {
    socket.register_nb_transport_bw(this, &Endpoint::memory_response);
  }
  for (unsigned i = 0; i < dma_ports; ++i) {
    dma_sockets[i].register_nb_transport_fw(this, &Endpoint::dma_request, static_cast<int>(i));
  }
}

Endpoint::~Endpoint() = default;

void Endpoint::fail_next_completion(CompletionSide side, CompletionFault fault) {
  if (side == CompletionSide::kReceived) return reads_.fail_next_completion(fault);
  sent_fault_ = fault;
}

// The card cannot tell which of its functions it was for, nor whether it was
// a write (PCIe 6.2.3.2): each function that lives by the host's writes hears that one may be lost.
void Endpoint::drop(Payload& payload) {
  const auto error = std::exchange(next_received_error_, 0);
  functions_.first().log_uncorrectable(error, tlp_header(payload, Transaction::of(payload)));
  for (unsigned function = 0; function < chip_.functions(); ++function) {
    if (functions_.of_chip(function).in_reset()) continue;
    for (auto* listener : loss_listeners_) listener->host_write_lost(function, 0);
  }
  payload.release();
}

// Its header is right: it is known whose it was.
void Endpoint::drop_poisoned(EndpointFunction& function, Payload& payload) {
  next_write_poisoned_ = false;
  const std::uint64_t address = payload.get_address();
  function.log_uncorrectable(pci::kAerPoisoned, tlp_header(payload, Transaction::of(payload)));
  payload.release();
  if (!function.has_device() || function.in_reset()) return;
  for (auto* listener : loss_listeners_) listener->host_write_lost(function.device(), address);
}

SimTime Endpoint::request_arrived(unsigned, Payload& payload) {
  if (next_received_error_ != 0) {
    drop(payload);
    return 0;
  }
  const auto& info = Transaction::of(payload);
  SimTime when = sim_now() + ticks(chip_.endpoint.ingress);
  const bool is_message = is_routed_by_id(info.kind);
  const bool is_register =
      info.kind == TransactionKind::kConfig || !functions_.decode(payload).is_memory();
  if (!info.posted && is_register && !is_message) when += ticks(chip_.endpoint.register_access);
  simulation_.agenda.at<&Endpoint::serve>(when, *this, handle_of(payload));
  return 0;
}

void Endpoint::serve(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  const auto& info = Transaction::of(payload);
  if (functions_.in_hot_reset()) {
    if (info.posted) return payload.release();
    finish(payload, Completion::kUnsupportedRequest);
  } else if (info.kind == TransactionKind::kConfig) {
    serve_config(payload);
  } else if (info.kind == TransactionKind::kInvalidation) {
    serve_invalidation(payload);
  } else if (info.kind == TransactionKind::kPageResponse) {
    serve_page_response(payload);
  } else {
    serve_memory(payload);
  }
}

bool Endpoint::config_access(ConfigRequest& request) {
  auto* const function = request.type0 ? functions_.find(request.bdf & 0xFF) : nullptr;
  if (!function) return false;
  if (const auto* const link = port_.link(); link != nullptr && functions_.is_physical(*function)) {
    function->set_link_state(link->state(Link::End::kLower));
  }
  if (!request.is_write) {
    if (function->has_device()) function->set_pending(reads_.is_pending(function->device()));
    request.value = function->read(request.offset, request.width);
    return true;
  }
  functions_.set_bus(request.bdf >> 8);
  const bool was_master = function->bus_master();
  if (function->write(request.offset, request.width, request.value)) {
    reset_behind(functions_.function_level_reset(*function));
    return true;
  }
  deliver_pending(*function);
  if (!was_master && function->bus_master() && function->has_device()) {
    for (auto* listener : loss_listeners_) listener->may_send_again(function->device());
  }
  if (function == &functions_.first()) reset_behind(functions_.follow_virtual_functions());
  return true;
}

void Endpoint::serve_config(Payload& payload) {
  ConfigRequest request;
  request.bdf = static_cast<std::uint32_t>(payload.get_address() >> 12);
  request.offset = static_cast<std::uint32_t>(payload.get_address() & 0xFFF);
  request.width = payload.get_data_length();
  request.is_write = payload.is_write();
  request.type0 = Transaction::of(payload).type0;
  if (request.is_write) std::memcpy(&request.value, payload.get_data_ptr(), request.width);
  if (!config_access(request)) return finish(payload, Completion::kUnsupportedRequest);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &request.value, request.width);
  finish(payload, Completion::kSuccess);
}

// Afterwards nothing is sent under an old translation, and the completion passes no write that was
// (PCIe 10.3.2). A function in reset has lost what it had cached.
void Endpoint::serve_invalidation(Payload& payload) {
  const auto* const function = functions_.find(payload.get_address() >> 12 & 0xFF);
  if (function == nullptr || !function->has_device()) {
    return finish(payload, Completion::kUnsupportedRequest);
  }
  const bool over = !on_invalidation_ || on_invalidation_(function->device(), handle_of(payload));
  if (over) invalidated(handle_of(payload));
}

void Endpoint::invalidated(std::uint64_t request) {
  finish(payload_of(request), Completion::kSuccess);
}

// One that nobody waits for is told in the capability's status (PCIe 10.5.2.2).
void Endpoint::serve_page_response(Payload& payload) {
  auto* const function = functions_.find(payload.get_address() >> 12 & 0xFF);
  PageResponseMessage message;
  std::memcpy(&message, payload.get_data_ptr(), sizeof message);
  payload.release();
  if (function == nullptr || !function->has_device()) return;
  const bool known = on_page_response_ && on_page_response_(function->device(), message);
  if (!known) function->set_page_request_status(pci::kPriStatusUnexpected);
}

void Endpoint::serve_memory(Payload& payload) {
  auto& info = Transaction::of(payload);
  const auto place = functions_.decode(payload);
  if (!place.function) return undecoded(payload);
  auto& function = *place.function;
  if (next_write_poisoned_ && payload.is_write()) return drop_poisoned(function, payload);
  if (payload.is_write() && function.has_device()) {
    simulation_.emit(track_, platform::Activity::kMmioWrite, info.issued, sim_now(), info.cause,
                     payload.get_data_length(), place.offset | std::uint64_t(place.bar) << 56);
  }
  if (function.has_device()) info.function = static_cast<std::uint8_t>(function.device());
  if (!place.is_memory()) return access_registers(payload, place);
  if (memory_sockets[function.device()].size() == 0) return unsupported(function, payload);
  info.sender_states.push(payload.get_address());
  payload.set_address(place.offset);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  memory_sockets[function.device()]->nb_transport_fw(payload, phase, delay);
}

// No function is at fault more than another (PCIe 6.2.4): function 0 tells it.
void Endpoint::undecoded(Payload& payload) {
  const bool posted = Transaction::of(payload).posted;
  const std::uint64_t address = payload.get_address();
  unsupported(functions_.first(), payload);
  for (const auto& function : functions_.physical()) {
    if (!posted || function.in_reset() || !function.misses(address)) continue;
    for (auto* listener : loss_listeners_) listener->host_write_lost(function.number(), address);
  }
}

// Without a device behind it all that a function has are its MSI-X structures.
void Endpoint::access_registers(Payload& payload, const Place& place) {
  auto& function = *place.function;
  const bool has_msix = place.bar == static_cast<int>(abi::kRegisterBar) && !function.in_reset();
  if (!has_msix || !access_msix(function, payload, place.offset)) {
    if (!function.has_device() || register_sockets[function.device()].size() == 0) {
      return unsupported(function, payload);
    }
    const std::uint64_t address = payload.get_address();
    payload.set_address(place.offset);
    sc_core::sc_time delay;
    register_sockets[function.device()]->b_transport(payload, delay);
    payload.set_address(address);
    if (!payload.is_response_ok()) return unsupported(function, payload);
  }
  if (Transaction::of(payload).posted) return payload.release();
  finish(payload, Completion::kSuccess);
}

// True if the access was to the MSI-X table or pending bits. Accesses of other than 4 or 8 aligned
// bytes are undefined there (PCI 3.0, 6.8.2); they read as 0 and write nothing.
bool Endpoint::access_msix(EndpointFunction& function, Payload& payload, Bytes offset) {
  auto& msix = function.msix();
  const unsigned width = payload.get_data_length();
  const Bytes table_end = abi::kMsixTableOffset + Bytes{msix.vectors()} * pci::kMsixEntrySize;
  const bool in_table = offset >= abi::kMsixTableOffset && offset + width <= table_end;
  const Bytes pending_end = abi::kMsixPbaOffset + (msix.vectors() + 63) / 64 * 8;
  const bool in_pending = offset >= abi::kMsixPbaOffset && offset + width <= pending_end;
  if (!in_table && !in_pending) return false;
  std::uint64_t value = 0;
  const bool defined = (width == 4 || width == 8) && offset % width == 0;
  if (payload.is_write()) {
    if (defined && in_table) {
      std::memcpy(&value, payload.get_data_ptr(), width);
      msix.write_table(static_cast<std::uint32_t>(offset - abi::kMsixTableOffset), width, value);
      deliver_pending(function);
    }
    return true;
  }
  if (defined && in_table) {
    value = msix.read_table(static_cast<std::uint32_t>(offset - abi::kMsixTableOffset), width);
  } else if (defined) {
    value = msix.read_pending(static_cast<std::uint32_t>(offset - abi::kMsixPbaOffset), width);
  }
  std::memset(payload.get_data_ptr(), 0, width);
  if (defined) std::memcpy(payload.get_data_ptr(), &value, width);
  return true;
}

void Endpoint::unsupported(EndpointFunction& function, Payload& payload) {
  const auto& info = Transaction::of(payload);
  function.log_uncorrectable(pci::kAerUnsupportedRequest, tlp_header(payload, info));
  if (info.posted) return payload.release();
  finish(payload, Completion::kUnsupportedRequest);
}

void Endpoint::finish(Payload& payload, Completion completion) {
  auto& info = Transaction::of(payload);
  info.completion = completion;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (completion != Completion::kSuccess) refuse(payload, completion);
  const auto fault = std::exchange(sent_fault_, CompletionFault::kNone);
  if (fault == CompletionFault::kDrop) return payload.release();
  info.completion = completion_with(fault, info.completion);
  if (fault == CompletionFault::kUnsupported || fault == CompletionFault::kAbort) {
    const bool aborts = fault == CompletionFault::kAbort;
    functions_.first().log_uncorrectable(
        aborts ? pci::kAerCompleterAbort : pci::kAerUnsupportedRequest, tlp_header(payload, info));
    refuse(payload, info.completion);
  }
  egress_.complete(payload);
}

tlm::tlm_sync_enum Endpoint::memory_response(Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
  auto& info = Transaction::of(payload);
  payload.set_address(info.sender_states.pop());
  if (functions_.in_hot_reset()) {
    finish(payload, Completion::kUnsupportedRequest);
  } else if (payload.is_response_error()) {
    unsupported(functions_.of_chip(info.function), payload);
  } else {
    finish(payload, info.completion);
  }
  return tlm::TLM_COMPLETED;
}

void Endpoint::raise(unsigned number, unsigned vector, std::uint64_t cause) {
  auto& function = functions_.of_chip(number);
  // Registers and commands name it: software may have written anything.
  if (vector >= function.msix().vectors()) return;
  if (function.in_reset()) return;
  if (function.msix().raise(vector)) send_message(function, vector, cause);
}

void Endpoint::deliver_pending(EndpointFunction& function) {
  for (int vector = function.msix().take_deliverable(); vector >= 0;
       vector = function.msix().take_deliverable()) {
    send_message(function, static_cast<unsigned>(vector), 0);
  }
}

void Endpoint::mask_vector(unsigned number, unsigned vector, bool masked) {
  auto& function = functions_.of_chip(number);
  function.msix().write_table(vector * pci::kMsixEntrySize + pci::kMsixEntryControl, 4,
                              masked ? 1 : 0);
  if (!function.in_reset()) deliver_pending(function);
}

void Endpoint::send_message(EndpointFunction& function, unsigned vector, std::uint64_t cause) {
  const auto fault = interrupt_faults_.take(function.has_device() ? function.device() : 0, vector);
  if (fault && fault->kind == InterruptFault::Kind::kLost) return;
  if (fault && fault->kind == InterruptFault::Kind::kMisdirected) {
    if (function.msix().raise(fault->to)) egress_.post(make_message(function, fault->to, cause));
    return;
  }
  auto& payload = make_message(function, vector, cause);
  if (fault && fault->kind == InterruptFault::Kind::kDelayed) {
    simulation_.agenda.at<&Endpoint::send_held>(sim_now() + ticks(fault->delay), *this,
                                                handle_of(payload));
    return;
  }
  egress_.post(payload);
  if (fault) egress_.post(make_message(function, vector, cause));
}

Endpoint::Payload& Endpoint::make_message(const EndpointFunction& function, unsigned vector,
                                          std::uint64_t cause) {
  const auto message = function.msix().message(vector);
  auto& payload = simulation_.pool.allocate(tlm::TLM_WRITE_COMMAND, message.address, nullptr, 4);
  std::memcpy(payload.get_data_ptr(), &message.data, 4);
  auto& info = Transaction::of(payload);
  info.kind = TransactionKind::kInterrupt;
  info.posted = true;
  info.function = static_cast<std::uint8_t>(function.has_device() ? function.device() : 0);
  info.requester = functions_.requester(function);
  info.cause = cause;
  info.issued = sim_now();
  return payload;
}

void Endpoint::hot_reset() {
  reset_behind(functions_.hot_reset());
}

void Endpoint::reset_at_once(unsigned function) {
  functions_.of_chip(function).reset_at_once();
  reset_behind({function});
}

// Reads in flight end before anybody else learns of the reset (PCIe 6.6.2); what the card sends
// while it lasts is refused.
void Endpoint::reset_behind(const FunctionSet::Devices& functions) {
  for (const unsigned function : functions) {
    reads_.abort(function);
    for (auto* listener : listeners_) listener->function_reset(function);
  }
}

tlm::tlm_sync_enum Endpoint::dma_request(int port, Payload& payload, tlm::tlm_phase&,
                                         sc_core::sc_time& delay) {
  auto& info = Transaction::of(payload);
  sc_assert(payload.get_data_length() <= kMaxDmaRequest);
  const auto& function = functions_.of_chip(info.function);
  info.requester = functions_.requester(function);
  const bool allowed = function.bus_master() && !function.in_reset();
  if (info.posted) {
    const bool may_ask = info.kind != TransactionKind::kPageRequest || function.page_requests() > 0;
    if (!allowed || !may_ask) return refuse_posted(payload);
    delay = sc_core::sc_time::from_value(egress_.post(payload) - sim_now());
  } else if (allowed) {
    reads_.start(static_cast<unsigned>(port), payload);
  } else {
    reads_.reject(static_cast<unsigned>(port), payload);
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Endpoint::refuse_posted(Payload& payload) {
  const auto& info = Transaction::of(payload);
  auto& function = functions_.of_chip(info.function);
  if (!function.in_reset()) {
    function.log_uncorrectable(kAerInternalError, tlp_header(payload, info));
  }
  refuse(payload, Completion::kCompleterAbort);
  return tlm::TLM_COMPLETED;
}

void Endpoint::completion_arrived(unsigned, Payload& wire) {
  if (next_received_error_ == 0) return reads_.completion_arrived(wire);
  reads_.lose(wire);
  drop(wire);
}

void Endpoint::read_ended(unsigned port, Payload& client) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  dma_sockets[port]->nb_transport_bw(client, phase, delay);
}

}  // namespace npu::model
