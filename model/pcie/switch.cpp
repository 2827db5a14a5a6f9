// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/switch.hpp"

#include <cstring>

#include "model/pcie/tlp.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {

Switch::Switch(const sc_core::sc_module_name& name, Simulation& simulation,
               const LinkConfig& uplink, Picoseconds latency)
    : sc_module(name),
      simulation_(simulation),
      uplink_(uplink),
      latency_(latency),
      upstream_("upstream_port", *this, kUpstreamPort),
      function_(BridgeIdentity{PortType::kUpstream, 0, 0, true, uplink}) {}

Switch::~Switch() = default;

PciePort* Switch::add_downstream_port(const std::string& name, const LinkConfig& link,
                                      ConfigTarget* below) {
  const auto number = static_cast<unsigned>(ports_.size()) + 1;
  sc_assert(number <= abi::pci::kDevicesPerBus);
  BridgeIdentity identity{PortType::kDownstream, static_cast<std::uint8_t>(number),
                          static_cast<std::uint16_t>(number), below != nullptr, link};
  ports_.push_back(std::make_unique<DownstreamPort>(identity, below));
  auto& port = *ports_.back();
  if (below) {
    port.end = std::make_unique<PciePort>(name.c_str(), static_cast<PortOwner&>(*this), number);
  }
  return port.end.get();
}

DownstreamPort* Switch::port_of_bus(unsigned bus) {
  for (auto& port : ports_) {
    if (port->end && port->function.claims_bus(bus % platform::kBusesPerSegment)) return port.get();
  }
  return nullptr;
}

DownstreamPort* Switch::port_of_address(std::uint64_t address, Bytes length) {
  if (!function_.claims(address, length)) return nullptr;
  for (auto& port : ports_) {
    if (port->end && port->function.claims(address, length)) return port.get();
  }
  return nullptr;
}

// Carries out what is addressed to one of the switch's own ports (is_local is set), or names the
// port it goes through; neither: nobody answers.
DownstreamPort* Switch::route_config(ConfigRequest& request, bool& is_local) {
  const auto target = platform::Bdf::unpack(request.bdf);
  is_local = false;
  if (request.type0) {
    is_local = target.device == 0 && target.function == 0;
    if (is_local) access_upstream_port(request);
    return nullptr;
  }
  const unsigned bus = target.bus % platform::kBusesPerSegment;
  if (bus == function_.secondary()) {
    is_local = target.device < ports_.size() && target.function == 0;
    if (is_local) ports_[target.device]->access(request);
    return nullptr;
  }
  auto* port = port_of_bus(target.bus);
  if (!port) return nullptr;
  request.type0 = bus == port->function.secondary();
  return request.type0 && !port->passes(target.device) ? nullptr : port;
}

bool Switch::config_access(ConfigRequest& request) {
  bool is_local = false;
  auto* port = route_config(request, is_local);
  if (is_local) return true;
  return port && port->access_below(request);
}

// Secondary Bus Reset of the upstream port resets the internal bus: the downstream ports with all
// below them (PCIe 7.5.1.3.13).
void Switch::access_upstream_port(ConfigRequest& request) {
  const bool before = function_.resets_secondary();
  function_.access(request);
  if (before || !function_.resets_secondary()) return;
  for (auto& port : ports_) port->hot_reset();
}

void Switch::hot_reset() {
  lost_before_ = sim_now() + ticks(latency_) + 1;
  function_.reset();
  for (auto& port : ports_) port->hot_reset();
}

bool Switch::lose(Payload& payload) {
  if (lost_before_ == 0 || sim_now() >= lost_before_) return false;
  payload.release();
  return true;
}

// How much longer than its buffers last the uplink is busy: what comes from below then meets full
// buffers.
SimTime Switch::uplink_congestion() const {
  const auto& link = *upstream_.link();
  const SimTime buffered = sim_now() + link.wire_time(uplink_.data_credits);
  return link.upstream_free_at() > buffered ? link.upstream_free_at() - buffered : 0;
}

SimTime Switch::request_arrived(unsigned port, Payload& payload) {
  const SimTime when = sim_now() + ticks(latency_);
  if (port == kUpstreamPort) {
    simulation_.agenda.at<&Switch::request_down>(when, *this, handle_of(payload));
    return 0;
  }
  if (!ports_[port - 1]->function.bus_master()) {
    simulation_.agenda.at<&Switch::reject>(when, *this, handle_of(payload));
    return 0;
  }
  simulation_.agenda.at<&Switch::request_up>(when, *this, handle_of(payload));
  return uplink_congestion();
}

void Switch::completion_arrived(unsigned port, Payload& payload) {
  const SimTime when = sim_now() + ticks(latency_);
  if (port == kUpstreamPort) {
    simulation_.agenda.at<&Switch::completion_down>(when, *this, handle_of(payload));
  } else {
    simulation_.agenda.at<&Switch::completion_up>(when, *this, handle_of(payload));
  }
}

void Switch::request_down(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  if (lose(payload)) return;
  if (Transaction::of(payload).kind == TransactionKind::kConfig) return config_down(payload);
  const bool is_message = is_routed_by_id(Transaction::of(payload).kind);
  auto* port = is_message ? port_of_bus(bus_of_message(payload))
                          : port_of_address(payload.get_address(), payload.get_data_length());
  if (port) {
    port->end->send_request(payload);
  } else {
    answer_up(payload, Completion::kUnsupportedRequest);
  }
}

void Switch::config_down(Payload& payload) {
  auto& info = Transaction::of(payload);
  ConfigRequest request;
  request.bdf = static_cast<std::uint32_t>(payload.get_address() >> 12);
  request.offset = static_cast<std::uint32_t>(payload.get_address() & 0xFFF);
  request.width = payload.get_data_length();
  request.is_write = payload.is_write();
  request.type0 = info.type0;
  if (request.is_write) std::memcpy(&request.value, payload.get_data_ptr(), request.width);
  bool is_local = false;
  if (auto* port = route_config(request, is_local)) {
    info.type0 = request.type0;
    port->end->send_request(payload);
    return;
  }
  if (!is_local) return answer_up(payload, Completion::kUnsupportedRequest);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &request.value, request.width);
  answer_up(payload, Completion::kSuccess);
}

void Switch::answer_up(Payload& payload, Completion completion) {
  if (Transaction::of(payload).posted) return payload.release();
  if (completion != Completion::kSuccess) refuse(payload, completion);
  upstream_.send_completion(payload);
}

void Switch::request_up(std::uint64_t payload) {
  if (lose(payload_of(payload))) return;
  if (!function_.bus_master()) return reject(payload);
  upstream_.send_request(payload_of(payload));
}

// Bus mastering is off in one of the ports: the request ends here (PCIe 7.5.1.3).
void Switch::reject(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  const auto& info = Transaction::of(payload);
  if (info.posted) return payload.release();
  refuse(payload, Completion::kUnsupportedRequest);
  completion_down(handle);
}

void Switch::completion_down(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  if (lose(payload)) return;
  if (auto* port = port_of_bus(Transaction::of(payload).requester >> 8)) {
    port->end->send_completion(payload);
  } else {
    payload.release();  // unexpected completion: its requester is gone
  }
}

void Switch::completion_up(std::uint64_t payload) {
  if (lose(payload_of(payload))) return;
  upstream_.send_completion(payload_of(payload));
}

}  // namespace npu::model
