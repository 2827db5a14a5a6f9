// SPDX-License-Identifier: Apache-2.0
// The whole PCI hierarchy of a system, built from SystemConfig and left as a BIOS leaves it.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/endpoint.hpp"
#include "model/pcie/firmware.hpp"
#include "model/pcie/root_complex.hpp"
#include "model/pcie/switch.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {

class PciFabric : public sc_core::sc_module {
 public:
  // Needs simulation, memory and interrupts for as long as it lives. `dma_ports`: DMA sockets of
  // every card. The caller binds root_complex().cpu_socket and every endpoint's register_sockets,
  // memory_sockets and DMA sockets.
  PciFabric(const sc_core::sc_module_name& name, Simulation& simulation, const SystemConfig& config,
            HostMemoryPort& memory, InterruptSink& interrupts, unsigned dma_ports = 1);
  ~PciFabric() override;

  RootComplex& root_complex() { return root_complex_; }
  unsigned cards() const { return static_cast<unsigned>(cards_.size()); }
  Endpoint& endpoint(unsigned card) { return *cards_[card].endpoint; }
  // The card's own link. A card that comes back after a removal is configured as at boot when its
  // reset is over, as an operating system's hot-plug service does; after a Secondary Bus Reset
  // that is left to whoever asked for it.
  Link& link(unsigned card) { return *cards_[card].link; }

  // What the operating system finds at boot.
  const std::vector<platform::HostBridge>& host_bridges() const { return bridges_; }
  const std::vector<FoundFunction>& functions() const { return firmware_.functions(); }
  // Also of a virtual function that there can be.
  PciResource resource(platform::Bdf bdf, unsigned bar) const;
  // Those that function 0 of `card` has now.
  std::vector<FoundFunction> virtual_functions(unsigned card);
  int numa_node(std::uint32_t requester) const;  // packed BDF; -1: no bridge owns its bus
  // The function may hold translations of the host's: it is there and has ATS, which it uses
  // whether Enable is set or not.
  bool caches_translations(platform::Bdf bdf);
  // Configuration space without taking time.
  std::uint32_t peek_config(platform::Bdf bdf, std::uint32_t offset);

 private:
  struct Card {
    std::unique_ptr<Endpoint> endpoint;
    Link* link = nullptr;
  };
  PlatformFirmware::Access config_access();
  void card_returned(unsigned card);
  void configure(std::uint64_t card);
  // The upper end of what hangs below a port; null target: an empty slot.
  struct Below {
    ConfigTarget* target = nullptr;
    PciePort* port = nullptr;
    Picoseconds hold;
    Link** link = nullptr;  // where to note the link above it
  };
  void build_root_port(const PciNodeConfig& config, unsigned bridge);
  Below build(const PciNodeConfig& node);
  void connect(PciePort& above, const Below& below, const PciNodeConfig& node,
               Picoseconds above_hold);
  LinkConfig link_of(const PciNodeConfig* node) const;

  Simulation& simulation_;
  SystemConfig config_;
  RootComplex root_complex_;
  unsigned dma_ports_;
  std::vector<Card> cards_;
  std::vector<std::unique_ptr<Switch>> switches_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<platform::HostBridge> bridges_;
  unsigned root_ports_ = 0;
  PlatformFirmware firmware_;
};

}  // namespace npu::model
