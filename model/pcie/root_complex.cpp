// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/root_complex.hpp"

#include <algorithm>
#include <cstring>

#include "model/pcie/root_port.hpp"
#include "model/pcie/tlp.hpp"

namespace npu::model {

RootComplex::RootComplex(const sc_core::sc_module_name& name, Simulation& simulation,
                         const RootComplexConfig& config, HostMemoryPort& memory,
                         InterruptSink& interrupts)
    : sc_module(name),
      cpu_socket("cpu_socket"),
      simulation_(simulation),
      config_(config),
      accesses_(simulation, config, memory, interrupts, *this),
      deadlines_(simulation, *this, config.completion_timeout),
      invalidations_(simulation, *this, config.invalidation_timeout) {
  cpu_socket.register_b_transport(this, &RootComplex::b_transport);
}

RootComplex::~RootComplex() = default;

unsigned RootComplex::add_host_bridge(std::uint16_t first_bus, std::uint16_t last_bus) {
  bridges_.push_back({first_bus, last_bus, {}});
  return static_cast<unsigned>(bridges_.size() - 1);
}

PciePort* RootComplex::add_root_port(const std::string& name, unsigned bridge,
                                     const LinkConfig& link, ConfigTarget* below) {
  const auto number = static_cast<unsigned>(ports_.size());
  BridgeIdentity identity{PortType::kRootPort, static_cast<std::uint8_t>(number + 1),
                          static_cast<std::uint16_t>(number + 1), below != nullptr, link};
  ports_.push_back(std::make_unique<RootPort>(identity, below));
  auto& port = *ports_.back();
  port.number = number;
  port.segment = bridges_[bridge].first_bus / platform::kBusesPerSegment;
  bridges_[bridge].ports.push_back(&port);
  if (below) {
    port.end = std::make_unique<PciePort>(name.c_str(), static_cast<PortOwner&>(*this), number);
  }
  return port.end.get();
}

RootComplex::HostBridge* RootComplex::bridge_of(unsigned bus) {
  for (auto& bridge : bridges_) {
    if (bus >= bridge.first_bus && bus <= bridge.last_bus) return &bridge;
  }
  return nullptr;
}

RootPort* RootComplex::port_of_bus(unsigned bus) {
  const unsigned number = bus % platform::kBusesPerSegment;
  const bool same = last_port_ && last_port_->segment == bus / platform::kBusesPerSegment;
  if (same && last_port_->function.claims_bus(number)) return last_port_;
  const auto* bridge = bridge_of(bus);
  if (!bridge) return nullptr;
  for (auto* port : bridge->ports) {
    if (port->function.claims_bus(number)) return port;
  }
  return nullptr;
}

RootPort* RootComplex::port_of_address(std::uint64_t address, Bytes length) {
  if (last_port_ && last_port_->function.claims(address, length)) return last_port_;
  for (auto& port : ports_) {
    if (port->end && port->function.claims(address, length)) return last_port_ = port.get();
  }
  return nullptr;
}

// The root port a configuration request goes through, or that answers it itself; null: nobody.
RootPort* RootComplex::route_config(ConfigRequest& request, bool& is_local) {
  const auto target = platform::Bdf::unpack(request.bdf);
  auto* bridge = bridge_of(target.bus);
  if (!bridge) return nullptr;
  is_local = target.bus == bridge->first_bus;
  if (is_local) {
    const bool exists = target.function == 0 && target.device < bridge->ports.size();
    return exists ? bridge->ports[target.device] : nullptr;
  }
  auto* port = port_of_bus(target.bus);
  if (!port || !port->end) return nullptr;
  request.type0 = target.bus % platform::kBusesPerSegment == port->function.secondary();
  return request.type0 && !port->passes(target.device) ? nullptr : port;
}

bool RootComplex::config_access(ConfigRequest& request) {
  bool is_local = false;
  auto* port = route_config(request, is_local);
  if (!port) return false;
  if (is_local) {
    port->access(request);
    return true;
  }
  return port->access_below(request);
}

void RootComplex::b_transport(Payload& payload, sc_core::sc_time&) {
  if (!Transaction::of(payload).posted) return block(payload);
  simulation_.agenda.at<&RootComplex::issue>(sim_now() + ticks(config_.latency), *this,
                                             handle_of(payload));
}

// The request travels in a payload of the root complex's own, which outlives the caller's if the
// completion comes after the timeout.
void RootComplex::block(Payload& payload) {
  if (free_waiters_.empty()) {
    free_waiters_.push_back(static_cast<unsigned>(waiters_.size()));
    waiters_.push_back(std::make_unique<Waiter>());
  }
  const unsigned number = free_waiters_.back();
  free_waiters_.pop_back();
  auto& waiter = *waiters_[number];
  auto& info = Transaction::of(payload);
  auto& wire = simulation_.pool.allocate(payload.get_command(), payload.get_address(), nullptr,
                                         payload.get_data_length());
  auto& wire_info = Transaction::of(wire);
  wire_info.kind = info.kind;
  wire_info.cause = info.cause;
  wire_info.issued = info.issued;
  wire_info.context = std::uint64_t{waiter.generation} << 32 | number;
  std::memcpy(wire.get_data_ptr(), payload.get_data_ptr(), payload.get_data_length());
  waiter.answer = nullptr;
  waiter.waiting = true;
  simulation_.agenda.at<&RootComplex::issue>(sim_now() + ticks(config_.latency), *this,
                                             handle_of(wire));
  const bool is_invalidation = info.kind == TransactionKind::kInvalidation;
  (is_invalidation ? invalidations_ : deadlines_).start(wire_info.context);
  simulation_.agenda.wait(waiter.done);
  ++waiter.generation;
  if (waiter.answer) {
    info.completion = Transaction::of(*waiter.answer).completion;
    std::memcpy(payload.get_data_ptr(), waiter.answer->get_data_ptr(), payload.get_data_length());
    waiter.answer->release();
  } else {
    info.completion = Completion::kTimeout;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (info.completion != Completion::kSuccess) refuse(payload, info.completion);
  free_waiters_.push_back(number);
}

void RootComplex::issue(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  if (Transaction::of(payload).kind == TransactionKind::kConfig) return issue_config(payload);
  const bool is_message = is_routed_by_id(Transaction::of(payload).kind);
  auto* port = is_message ? port_of_bus(bus_of_message(payload))
                          : port_of_address(payload.get_address(), payload.get_data_length());
  if (port && port->end) {
    port->end->send_request(payload);
  } else {
    answer_locally(payload, Completion::kUnsupportedRequest);
  }
}

void RootComplex::issue_config(Payload& payload) {
  ConfigRequest request;
  request.bdf = static_cast<std::uint32_t>(payload.get_address() >> 12);
  request.offset = static_cast<std::uint32_t>(payload.get_address() & 0xFFF);
  request.width = payload.get_data_length();
  request.is_write = payload.is_write();
  bool is_local = false;
  auto* port = route_config(request, is_local);
  if (!port) return answer_locally(payload, Completion::kUnsupportedRequest);
  if (!is_local) {
    Transaction::of(payload).type0 = request.type0;
    port->end->send_request(payload);
    return;
  }
  if (request.is_write) std::memcpy(&request.value, payload.get_data_ptr(), request.width);
  port->access(request);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &request.value, request.width);
  answer_locally(payload, Completion::kSuccess);
}

void RootComplex::answer_locally(Payload& payload, Completion completion) {
  if (Transaction::of(payload).posted) return payload.release();
  if (completion != Completion::kSuccess) refuse(payload, completion);
  simulation_.agenda.at<&RootComplex::deliver>(sim_now() + ticks(config_.latency), *this,
                                               handle_of(payload));
}

bool RootComplex::is_waiting(std::uint64_t context) const {
  const auto& waiter = *waiters_[static_cast<std::uint32_t>(context)];
  return waiter.waiting && waiter.generation == context >> 32;
}

void RootComplex::deliver(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  const std::uint64_t context = Transaction::of(payload).context;
  if (!is_waiting(context)) return payload.release();  // too late
  auto& waiter = *waiters_[static_cast<std::uint32_t>(context)];
  waiter.waiting = false;
  waiter.answer = &payload;
  simulation_.agenda.notify(waiter.done);
}

void RootComplex::timed_out(std::uint64_t context) {
  auto& waiter = *waiters_[static_cast<std::uint32_t>(context)];
  waiter.waiting = false;
  simulation_.agenda.notify(waiter.done);
}

// --- of devices ----------------------------------------------------------------------------

SimTime RootComplex::request_arrived(unsigned port, Payload& payload) {
  accesses_.request_arrived(*ports_[port], payload);
  return 0;
}

void RootComplex::completion_arrived(unsigned port, Payload& payload) {
  accesses_.completion_arrived(*ports_[port], payload);
}

// To another device it goes down again.
RootPort* RootComplex::peer_of(std::uint64_t address, Bytes length) {
  return redirects_peers_ ? nullptr : port_of_address(address, length);
}

void RootComplex::completion_passed(Payload& payload) {
  if (Transaction::of(payload).requester == 0) return deliver(handle_of(payload));
  auto* port = port_of_bus(Transaction::of(payload).requester >> 8);
  if (port && port->end) {
    port->end->send_completion(payload);
  } else {
    payload.release();  // unexpected completion: its requester is gone
  }
}

void RootComplex::respond_to_page_request(std::uint32_t requester,
                                          const PageResponseMessage& message, std::uint64_t cause) {
  auto& payload = simulation_.pool.allocate(tlm::TLM_WRITE_COMMAND, std::uint64_t{requester} << 12,
                                            nullptr, sizeof message);
  auto& info = Transaction::of(payload);
  info.kind = TransactionKind::kPageResponse;
  info.posted = true;
  info.pasid = message.pasid;
  info.cause = cause;
  info.issued = sim_now();
  std::memcpy(payload.get_data_ptr(), &message, sizeof message);
  simulation_.agenda.at<&RootComplex::issue>(sim_now() + ticks(config_.latency), *this,
                                             handle_of(payload));
}

}  // namespace npu::model
