// SPDX-License-Identifier: Apache-2.0
// A PCI Express switch: one upstream port, downstream ports as devices 0, 1, ... of the internal
// bus. Requests between downstream ports go through the root (as with ACS redirection).
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/downstream_port.hpp"

namespace npu::model {

class Switch : public sc_core::sc_module, public ConfigTarget, private PortOwner {
 public:
  using Payload = tlm::tlm_generic_payload;

  Switch(const sc_core::sc_module_name& name, Simulation& simulation, const LinkConfig& uplink,
         Picoseconds latency);
  ~Switch() override;

  PciePort& upstream_port() { return upstream_; }
  // `below` null: an empty slot, whose port has no end of a link (null is returned).
  PciePort* add_downstream_port(const std::string& name, const LinkConfig& link,
                                ConfigTarget* below);
  Picoseconds receiver_hold() const { return latency_; }
  bool config_access(ConfigRequest& request) override;
  void hot_reset() override;

 private:
  static constexpr unsigned kUpstreamPort = 0;  // downstream port i has number i + 1

  SimTime request_arrived(unsigned port, Payload& payload) override;
  void completion_arrived(unsigned port, Payload& payload) override;
  void request_down(std::uint64_t handle);
  void request_up(std::uint64_t payload);
  void completion_down(std::uint64_t handle);
  void completion_up(std::uint64_t payload);
  void reject(std::uint64_t handle);
  void config_down(Payload& payload);
  void answer_up(Payload& payload, Completion completion);
  DownstreamPort* port_of_bus(unsigned bus);
  DownstreamPort* port_of_address(std::uint64_t address, Bytes length);
  DownstreamPort* route_config(ConfigRequest& request, bool& is_local);
  SimTime uplink_congestion() const;
  void access_upstream_port(ConfigRequest& request);
  bool lose(Payload& payload);

  Simulation& simulation_;
  LinkConfig uplink_;
  Picoseconds latency_;
  PciePort upstream_;
  BridgeFunction function_;
  SimTime lost_before_ = 0;  // what leaves the switch before then was in it at a reset
  std::vector<std::unique_ptr<DownstreamPort>> ports_;
};

}  // namespace npu::model
