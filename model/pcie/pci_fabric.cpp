// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/pci_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::model {
namespace {

const PciNodeConfig* occupant(const PciNodeConfig& port) {
  if (port.kind == PciNodeKind::kSwitch || port.kind == PciNodeKind::kCard) return &port;
  if (port.kind == PciNodeKind::kEmptySlot || port.children.empty()) return nullptr;
  return occupant(port.children.front());
}

// Up to the next bridge of its segment.
std::uint16_t last_bus_of(const std::vector<HostBridgeConfig>& bridges, std::uint16_t first) {
  unsigned last = first | (platform::kBusesPerSegment - 1);
  for (const auto& other : bridges) {
    if (other.first_bus > first) last = std::min(last, other.first_bus - 1U);
  }
  return static_cast<std::uint16_t>(last);
}

}  // namespace

PciFabric::PciFabric(const sc_core::sc_module_name& name, Simulation& simulation,
                     const SystemConfig& config, HostMemoryPort& memory, InterruptSink& interrupts,
                     unsigned dma_ports)
    : sc_module(name),
      simulation_(simulation),
      config_(config),
      root_complex_("root_complex", simulation, config.root_complex, memory, interrupts),
      dma_ports_(dma_ports),
      cards_(config.cards.size()) {
  const auto& bridges = config.host_bridges;
  for (std::size_t i = 0; i < bridges.size(); ++i) {
    bridges_.push_back(
        {bridges[i].first_bus, last_bus_of(bridges, bridges[i].first_bus), bridges[i].numa_node});
    const unsigned index =
        root_complex_.add_host_bridge(bridges_[i].first_bus, bridges_[i].last_bus);
    for (const auto& port : bridges[i].root_ports) build_root_port(port, index);
  }
  firmware_.run(config_access(), bridges_);
  for (unsigned i = 0; i < cards(); ++i) {
    if (cards_[i].link) cards_[i].link->on_return([this, i] { card_returned(i); });
  }
}

PciFabric::~PciFabric() = default;

// What an empty slot could do: as much as what is plugged in elsewhere.
LinkConfig PciFabric::link_of(const PciNodeConfig* node) const {
  if (!node) return config_.cards.front().link;
  return node->kind == PciNodeKind::kCard ? config_.cards[static_cast<std::size_t>(node->card)].link
                                          : node->link;
}

void PciFabric::build_root_port(const PciNodeConfig& config, unsigned bridge) {
  const auto* node = occupant(config);
  const auto below = node ? build(*node) : Below{};
  auto* port = root_complex_.add_root_port(fmt::format("root_port{}", root_ports_++), bridge,
                                           link_of(node), below.target);
  if (port) connect(*port, below, *node, root_complex_.receiver_hold());
}

PciFabric::Below PciFabric::build(const PciNodeConfig& node) {
  if (node.kind == PciNodeKind::kCard) {
    const auto index = static_cast<std::size_t>(node.card);
    sc_assert(index < cards_.size() && !cards_[index].endpoint);
    auto& card = cards_[index];
    const auto& chip = config_.cards[index];
    card.endpoint = std::make_unique<Endpoint>(
        fmt::format("card{}", index).c_str(), simulation_, chip, dma_ports_,
        std::max(node.extra_functions + 1, chip.physical_functions()));
    return {card.endpoint.get(), &card.endpoint->port(), card.endpoint->receiver_hold(),
            &card.link};
  }
  const auto number = switches_.size();
  switches_.push_back(std::make_unique<Switch>(fmt::format("switch{}", number).c_str(), simulation_,
                                               node.link, node.switch_latency));
  auto& built = *switches_.back();
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const auto* child = occupant(node.children[i]);
    const auto below = child ? build(*child) : Below{};
    auto* port = built.add_downstream_port(fmt::format("switch{}_port{}", number, i),
                                           child ? link_of(child) : node.link, below.target);
    if (port) connect(*port, below, *child, built.receiver_hold());
  }
  return {&built, &built.upstream_port(), built.receiver_hold(), nullptr};
}

void PciFabric::connect(PciePort& above, const Below& below, const PciNodeConfig& node,
                        Picoseconds above_hold) {
  links_.push_back(std::make_unique<Link>(
      fmt::format("link{}", links_.size()).c_str(), simulation_, link_of(&node),
      config_.root_complex.read_completion_boundary, Link::Receivers{above_hold, below.hold}));
  above.connect_below(*links_.back());
  below.port->connect_above(*links_.back());
  links_.back()->attach_below(*below.target);
  if (below.link) *below.link = links_.back().get();
}

PlatformFirmware::Access PciFabric::config_access() {
  return [this](ConfigRequest& request) { return root_complex_.config_access(request); };
}

void PciFabric::card_returned(unsigned card) {
  const SimTime ready = std::max(sim_now(), cards_[card].endpoint->ready_at());
  simulation_.agenda.at<&PciFabric::configure>(ready, *this, card);
}

// Removed or reset once more meanwhile: its next return configures it.
void PciFabric::configure(std::uint64_t number) {
  const auto& card = cards_[number];
  if (card.link->is_down() || sim_now() < card.endpoint->ready_at()) return;
  firmware_.restore(config_access(), platform::Bdf::unpack(card.endpoint->requester()).bus);
}

std::vector<FoundFunction> PciFabric::virtual_functions(unsigned card) {
  const auto physical = cards_[card].endpoint->requester();
  for (const auto& function : functions()) {
    if (function.bdf.packed() != physical) continue;
    return firmware_.virtual_functions(config_access(), function);
  }
  return {};
}

PciResource PciFabric::resource(platform::Bdf bdf, unsigned bar) const {
  const auto found = firmware_.resource(bdf, bar);
  if (found.size != 0 || bar >= 6) return found;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    const auto physical = platform::Bdf::unpack(cards_[i].endpoint->requester());
    const auto& config = config_.cards[i].pci;
    const unsigned first = physical.packed() + config.sriov_first_vf_offset;
    if (config.sriov_total_vfs == 0 || bdf.bus != physical.bus || bdf.packed() < first) continue;
    const unsigned steps = bdf.packed() - first;
    const unsigned index = steps / config.sriov_vf_stride;
    if (steps % config.sriov_vf_stride != 0 || index >= config.sriov_total_vfs) continue;
    auto resource = firmware_.virtual_resource(physical, bar);
    resource.address += index * resource.size;
    return resource;
  }
  return found;
}

int PciFabric::numa_node(std::uint32_t requester) const {
  const unsigned bus = requester >> 8;
  for (const auto& bridge : bridges_) {
    if (bus >= bridge.first_bus && bus <= bridge.last_bus) return bridge.numa_node;
  }
  return -1;
}

bool PciFabric::caches_translations(platform::Bdf bdf) {
  namespace pci = abi::pci;
  // Capabilities of 8 bytes fill 0x100..0xFFF; more steps than that are a loop.
  std::uint32_t offset = pci::kExtendedStart;
  for (int steps = 0; offset >= pci::kExtendedStart && steps < 480; ++steps) {
    const std::uint32_t header = peek_config(bdf, offset);
    if (header == 0 || header == pci::kAllOnes) return false;
    if ((header & 0xFFFF) == pci::kExtAts) return true;
    offset = header >> 20;
  }
  return false;
}

std::uint32_t PciFabric::peek_config(platform::Bdf bdf, std::uint32_t offset) {
  ConfigRequest request;
  request.bdf = bdf.packed();
  request.offset = offset;
  return root_complex_.config_access(request) ? request.value : abi::pci::kAllOnes;
}

}  // namespace npu::model
