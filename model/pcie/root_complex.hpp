// SPDX-License-Identifier: Apache-2.0
// Root complex: host bridges with their root ports, the CPU's way to the devices and the devices'
// way to host memory and interrupts.
//
// `latency` passes between core and root port transmitter, and between root port and memory, each
// way. In what order what devices send has its effect: HostAccesses.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>

#include <memory>
#include <systemc>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/deadlines.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/bridge.hpp"
#include "model/pcie/host_accesses.hpp"
#include "model/pcie/port.hpp"

namespace npu::model {

class RootComplex : public sc_core::sc_module, private PortOwner, private HostAccesses::Router {
 public:
  using Payload = tlm::tlm_generic_payload;

  // From host tasks (SystemC threads). kMemory posted writes return at once, the payload's
  // reference is given away. Memory reads and configuration accesses of up to 64 bytes block for
  // the round trip, at most for completion_timeout; data is all ones unless Transaction::completion
  // is kSuccess. An ATS Invalidate Request blocks until its completion, at most for
  // invalidation_timeout.
  tlm_utils::passthrough_target_socket<RootComplex> cpu_socket;

  RootComplex(const sc_core::sc_module_name& name, Simulation& simulation,
              const RootComplexConfig& config, HostMemoryPort& memory, InterruptSink& interrupts);
  ~RootComplex() override;

  // Construction. A host bridge owns buses [first, last].
  unsigned add_host_bridge(std::uint16_t first_bus, std::uint16_t last_bus);
  // Root ports are devices 0, 1, ... of the bridge's root bus. `below` answers configuration
  // requests behind it; null: an empty slot, whose port has no end of a link (null is returned).
  PciePort* add_root_port(const std::string& name, unsigned bridge, const LinkConfig& link,
                          ConfigTarget* below);

  // A configuration access that takes no time: firmware and exporters. False: nobody answers.
  bool config_access(ConfigRequest& request);
  // From now on requests for other devices' addresses go to the IOMMU instead of to them
  // (PCIe 6.12, ACS P2P request redirect): devices that belong to different owners.
  void redirect_peers() { redirects_peers_ = true; }
  Picoseconds receiver_hold() const { return config_.latency; }
  // The IOMMU answers a page request of the function (PCIe 10.4.2).
  void respond_to_page_request(std::uint32_t requester, const PageResponseMessage& message,
                               std::uint64_t cause);

 private:
  struct HostBridge {
    std::uint16_t first_bus;
    std::uint16_t last_bus;
    std::vector<RootPort*> ports;
  };
  // A CPU access that blocks its task.
  struct Waiter {
    sc_core::sc_event done;
    Payload* answer = nullptr;
    std::uint32_t generation = 0;
    bool waiting = false;
  };

  // CPU side
  void b_transport(Payload& payload, sc_core::sc_time& delay);
  void block(Payload& payload);
  void issue(std::uint64_t handle);
  void issue_config(Payload& payload);
  void answer_locally(Payload& payload, Completion completion);
  void deliver(std::uint64_t handle);
  friend class Deadlines<RootComplex>;
  bool is_waiting(std::uint64_t context) const;
  void timed_out(std::uint64_t context);
  // device side
  SimTime request_arrived(unsigned port, Payload& payload) override;
  void completion_arrived(unsigned port, Payload& payload) override;
  RootPort* peer_of(std::uint64_t address, Bytes length) override;
  void completion_passed(Payload& payload) override;
  // routing
  RootPort* route_config(ConfigRequest& request, bool& is_local);
  HostBridge* bridge_of(unsigned bus);
  RootPort* port_of_bus(unsigned bus);
  RootPort* port_of_address(std::uint64_t address, Bytes length);

  Simulation& simulation_;
  RootComplexConfig config_;
  HostAccesses accesses_;
  std::vector<HostBridge> bridges_;
  std::vector<std::unique_ptr<RootPort>> ports_;
  RootPort* last_port_ = nullptr;  // most accesses go where the one before went
  std::vector<std::unique_ptr<Waiter>> waiters_;
  std::vector<unsigned> free_waiters_;
  Deadlines<RootComplex> deadlines_;
  Deadlines<RootComplex> invalidations_;  // theirs
  bool redirects_peers_ = false;
};

}  // namespace npu::model
