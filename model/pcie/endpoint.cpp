// SPDX-License-Identifier: Apache-2.0
// Endpoint: requests from the host, interrupts and resets.
#include "model/pcie/endpoint.hpp"

#include <cstring>
#include <string>

#include "model/pcie/tlp.hpp"
#include "npu/abi/layout.hpp"

namespace npu::model {

namespace pci = abi::pci;

Endpoint::Endpoint(const sc_core::sc_module_name& name, Simulation& simulation,
                   const ChipConfig& chip, unsigned dma_ports, unsigned functions)
    : sc_module(name),
      register_socket("register_socket"),
      memory_socket("memory_socket"),
      dma_sockets("dma_socket", dma_ports),
      simulation_(simulation),
      chip_(chip),
      port_("port", *this, 0),
      reset_until_(functions, 0),
      virtual_functions_(chip_),
      track_(simulation.recorder.track(std::string(this->name()) + ".endpoint")) {
  sc_assert(functions >= 1 && functions <= pci::kFunctionsPerDevice);
  for (unsigned i = 0; i < functions; ++i) functions_.emplace_back(chip, i, functions);
  memory_socket.register_nb_transport_bw(this, &Endpoint::memory_response);
  for (unsigned i = 0; i < dma_ports; ++i) {
    dma_sockets[i].register_nb_transport_fw(this, &Endpoint::dma_request, static_cast<int>(i));
  }
  simulation_.agenda.add(*this);
}

Endpoint::~Endpoint() = default;

SimTime Endpoint::request_arrived(unsigned, Payload& payload) {
  const auto& info = Transaction::of(payload);
  SimTime when = sim_now() + ticks(chip_.endpoint.ingress);
  Bytes offset = 0;
  const bool is_register = info.kind == TransactionKind::kConfig ||
                           functions_[0].decode(payload.get_address(), payload.get_data_length(),
                                                offset) != static_cast<int>(abi::kMemoryBar);
  if (!info.posted && is_register) when += ticks(chip_.endpoint.register_access);
  simulation_.agenda.at<&Endpoint::serve>(when, *this, handle_of(payload));
  return 0;
}

void Endpoint::serve(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  const auto& info = Transaction::of(payload);
  if (in_hot_reset()) {
    if (info.posted) return payload.release();
    finish(payload, Completion::kUnsupportedRequest);
  } else if (info.kind == TransactionKind::kConfig) {
    serve_config(payload);
  } else {
    serve_memory(payload);
  }
}

bool Endpoint::config_access(ConfigRequest& request) {
  // The device number is part of the function's (ARI), or 0.
  const unsigned number = request.bdf & 0xFF;
  if (!request.type0) return false;
  if (number >= functions_.size()) return virtual_config_access(request);
  if (in_reset(number)) return false;
  auto& function = functions_[number];
  if (!request.is_write) {
    if (number == 0) function.set_pending(outstanding_ > 0);
    request.value = function.read(request.offset, request.width);
    return true;
  }
  // A function learns its bus number from the writes it gets (PCIe 2.2.6.2).
  bdf_ = static_cast<std::uint16_t>(request.bdf & 0xFF00U);
  if (function.write(request.offset, request.width, request.value)) {
    function_level_reset(number);
  } else if (number == 0) {
    virtual_functions_.follow(function.virtual_functions());
    deliver_pending();
  }
  return true;
}

// They answer while the physical function does.
bool Endpoint::virtual_config_access(ConfigRequest& request) {
  auto* target = virtual_functions_.find(request.bdf & 0xFF);
  if (!target || in_reset(0) || sim_now() < target->reset_until) return false;
  if (!request.is_write) {
    request.value = target->function.read(request.offset, request.width);
  } else if (target->function.write(request.offset, request.width, request.value)) {
    target->reset_until = sim_now() + ticks(chip_.endpoint.flr_time);
    target->function.reset(FunctionReset::kFunctionLevel);
  }
  return true;
}

void Endpoint::serve_config(Payload& payload) {
  ConfigRequest request;
  request.bdf = static_cast<std::uint16_t>(payload.get_address() >> 12);
  request.offset = static_cast<std::uint32_t>(payload.get_address() & 0xFFF);
  request.width = payload.get_data_length();
  request.is_write = payload.is_write();
  request.type0 = Transaction::of(payload).hop_context == kConfigType0;
  if (request.is_write) std::memcpy(&request.value, payload.get_data_ptr(), request.width);
  if (!config_access(request)) return finish(payload, Completion::kUnsupportedRequest);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &request.value, request.width);
  finish(payload, Completion::kSuccess);
}

void Endpoint::serve_memory(Payload& payload) {
  auto& info = Transaction::of(payload);
  const bool is_write = payload.is_write();
  Bytes offset = 0;
  const int bar =
      in_reset(0) ? -1
                  : functions_[0].decode(payload.get_address(), payload.get_data_length(), offset);
  if (bar < 0) return serve_virtual_memory(payload);
  if (is_write) {
    simulation_.emit(track_, platform::Activity::kMmioWrite, info.issued, sim_now(), info.cause,
                     payload.get_data_length(), offset | std::uint64_t(bar) << 56);
  }
  if (bar == static_cast<int>(abi::kRegisterBar)) return access_registers(payload, offset);
  info.hop_context = payload.get_address();
  payload.set_address(offset);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  memory_socket->nb_transport_fw(payload, phase, delay);
}

// All that a virtual function has behind its BARs are its MSI-X structures.
void Endpoint::serve_virtual_memory(Payload& payload) {
  int bar = -1;
  Bytes offset = 0;
  auto* target = in_reset(0) ? nullptr
                             : virtual_functions_.decode(payload.get_address(),
                                                         payload.get_data_length(), bar, offset);
  if (!target) return undecoded(payload);
  const bool done = bar == static_cast<int>(abi::kRegisterBar) &&
                    sim_now() >= target->reset_until &&
                    access_msix(target->function, payload, offset);
  if (!done) return unsupported(target->function, payload);
  if (Transaction::of(payload).posted) return payload.release();
  finish(payload, Completion::kSuccess);
}

void Endpoint::undecoded(Payload& payload) {
  const bool lost = Transaction::of(payload).posted && !functions_[0].decodes_memory();
  const std::uint64_t address = payload.get_address();
  unsupported(functions_[0], payload);
  if (!lost || in_reset(0)) return;
  for (auto* listener : loss_listeners_) listener->host_write_lost(address);
}

void Endpoint::access_registers(Payload& payload, Bytes offset) {
  if (!access_msix(functions_[0], payload, offset)) {
    const std::uint64_t address = payload.get_address();
    payload.set_address(offset);
    sc_core::sc_time delay;
    register_socket->b_transport(payload, delay);
    payload.set_address(address);
    if (!payload.is_response_ok()) return unsupported(functions_[0], payload);
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
      if (&function == &functions_[0]) deliver_pending();
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
  switch (take_fault(CompletionSide::kSent)) {
    case Fault::kDrop:
      return payload.release();
    case Fault::kPoison:
      info.completion = Completion::kPoisoned;
      break;
    case Fault::kNone:
      break;
  }
  // PCIe 2.4.1: a completion does not pass a posted request.
  if (posted_ready_ < sim_now()) return port_.send_completion(payload);
  simulation_.agenda.at<&Endpoint::send_completion>(posted_ready_, *this, handle_of(payload));
}

void Endpoint::send_completion(std::uint64_t payload) {
  port_.send_completion(payload_of(payload));
}

tlm::tlm_sync_enum Endpoint::memory_response(Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
  auto& info = Transaction::of(payload);
  payload.set_address(info.hop_context);
  if (in_hot_reset()) {
    finish(payload, Completion::kUnsupportedRequest);
  } else if (payload.is_response_error()) {
    unsupported(functions_[0], payload);
  } else {
    finish(payload, info.completion);
  }
  return tlm::TLM_COMPLETED;
}

void Endpoint::raise(unsigned vector, std::uint64_t cause) {
  // Registers and commands name it: software may have written anything.
  if (vector >= functions_[0].msix().vectors()) return;
  if (in_reset(0)) return;
  if (functions_[0].msix().raise(vector)) send_message(vector, cause);
}

void Endpoint::deliver_pending() {
  for (int vector = functions_[0].msix().take_deliverable(); vector >= 0;
       vector = functions_[0].msix().take_deliverable()) {
    send_message(static_cast<unsigned>(vector), 0);
  }
}

void Endpoint::send_message(unsigned vector, std::uint64_t cause) {
  const auto message = functions_[0].msix().message(vector);
  auto& payload = simulation_.pool.allocate(tlm::TLM_WRITE_COMMAND, message.address, nullptr, 4);
  std::memcpy(payload.get_data_ptr(), &message.data, 4);
  auto& info = Transaction::of(payload);
  info.kind = TransactionKind::kInterrupt;
  info.posted = true;
  info.requester = bdf_;
  info.cause = cause;
  info.issued = sim_now();
  post(payload);
}

// PCIe 6.6.2. Reads in flight end before anybody else learns of the reset; what the card sends
// while it lasts is refused.
void Endpoint::function_level_reset(unsigned function) {
  reset_until_[function] = sim_now() + ticks(chip_.endpoint.flr_time);
  functions_[function].reset(FunctionReset::kFunctionLevel);
  if (function == 0) reset_card();
}

// PCIe 6.6.1: the conventional reset that comes with the link, also of the addresses.
void Endpoint::hot_reset() {
  hot_reset_until_ = sim_now() + ticks(chip_.endpoint.flr_time);
  for (unsigned i = 0; i < functions_.size(); ++i) {
    reset_until_[i] = hot_reset_until_;
    functions_[i].reset(FunctionReset::kConventional);
  }
  reset_card();
}

void Endpoint::reset_card() {
  virtual_functions_.follow(functions_[0].virtual_functions());
  for (unsigned tag = 0; tag < tags_.size(); ++tag) {
    if (tags_[tag].client) end_read(tag, Completion::kCompleterAbort, nullptr);
  }
  for (auto* listener : listeners_) listener->function_reset();
}

}  // namespace npu::model
