// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/config/checks.hpp"
#include "model/config/fabric_plan.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {
namespace {

constexpr std::size_t kDevicesPerBus = 32;

class TopologyCheck {
 public:
  explicit TopologyCheck(const SystemConfig& system) : system_(system) {}

  CheckResult run() {
    if (system_.host_bridges.empty()) return BrokenRule{"host_bridges", "is empty"};
    for (std::size_t i = 0; i < system_.host_bridges.size(); ++i) {
      const std::string path = fmt::format("host_bridges.{}", i);
      if (auto broken = check_bridge(system_.host_bridges[i], path)) return broken;
    }
    return check_buses();
  }

 private:
  CheckResult check_name(const std::string& name, const std::string& path) {
    if (names_.insert(name).second) return std::nullopt;
    return BrokenRule{path + ".name", "'" + name + "' is taken by another node"};
  }

  CheckResult check_bridge(const HostBridgeConfig& bridge, const std::string& path) {
    if (auto broken = check_name(bridge.name, path)) return broken;
    if (bridge.numa_node >= static_cast<int>(system_.memory.numa_nodes)) {
      return BrokenRule{path + ".numa_node",
                        fmt::format("there is no node {}: memory.numa_nodes is {}",
                                    bridge.numa_node, system_.memory.numa_nodes),
                        {"memory.numa_nodes"}};
    }
    if (bridge.root_ports.size() > kDevicesPerBus) {
      return BrokenRule{path + ".root_ports", "a bus has room for 32 devices"};
    }
    buses_ = 1;
    for (std::size_t i = 0; i < bridge.root_ports.size(); ++i) {
      const std::string port_path = fmt::format("{}.root_ports.{}", path, i);
      if (auto broken = check_root_port(bridge.root_ports[i], port_path)) return broken;
    }
    const auto [other, fresh] = ranges_.emplace(bridge.first_bus, Range{buses_, path});
    if (fresh) return std::nullopt;
    return BrokenRule{path + ".first_bus", "is the first bus of another host bridge too"};
  }

  CheckResult check_root_port(const PciNodeConfig& port, const std::string& path) {
    if (auto broken = check_name(port.name, path)) return broken;
    ++buses_;
    if (port.children.size() > 1) {
      return BrokenRule{path + ".children", "a root port's link has one device at its other end"};
    }
    return check_children(port, path, nullptr);
  }

  CheckResult check_children(const PciNodeConfig& parent, const std::string& path,
                             const LinkConfig* above) {
    for (std::size_t i = 0; i < parent.children.size(); ++i) {
      const auto& child = parent.children[i];
      const std::string child_path = fmt::format("{}.children.{}", path, i);
      if (auto broken = check_name(child.name, child_path)) return broken;
      if (child.kind == PciNodeKind::kCard) {
        if (auto broken = check_card(child, child_path, above)) return broken;
      }
      if (child.kind != PciNodeKind::kSwitch) continue;
      if (auto broken = check_payload(child.link, child_path + ".link", above)) return broken;
      if (child.children.size() > kDevicesPerBus) {
        return BrokenRule{child_path + ".children", "a switch has room for 32 downstream ports"};
      }
      // The switch's inner bus, and one behind each of its downstream ports.
      buses_ += static_cast<unsigned>(1 + child.children.size());
      if (auto broken = check_children(child, child_path, &child.link)) return broken;
    }
    return std::nullopt;
  }

  // Max_Payload_Size is one value for a hierarchy: a port treats a longer TLP as malformed
  // (PCI Express Base Specification, 2.2.2).
  CheckResult check_payload(const LinkConfig& link, const std::string& path,
                            const LinkConfig* above) const {
    if (above == nullptr || link.max_payload <= above->max_payload) return std::nullopt;
    return BrokenRule{path + ".max_payload_bytes",
                      fmt::format("{} is more than the {} of the switch above", link.max_payload,
                                  above->max_payload)};
  }

  CheckResult check_card(const PciNodeConfig& node, const std::string& path,
                         const LinkConfig* above) const {
    const ChipConfig& chip = system_.cards[static_cast<std::size_t>(node.card)];
    if (chip.pci.sriov_total_vfs > 0 && chip.pci.sriov_first_vf_offset <= node.extra_functions) {
      return BrokenRule{path + ".extra_functions",
                        fmt::format("functions 1..{} collide with the chip's first VF at {}",
                                    node.extra_functions, chip.pci.sriov_first_vf_offset),
                        {fmt::format("cards.{}.pci.sriov_first_vf_offset", node.card)}};
    }
    return check_payload(chip.link, fmt::format("cards.{}.link", node.card), above);
  }

  CheckResult check_buses() const {
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
      const auto next = std::next(range);
      const unsigned end =
          (range->first / platform::kBusesPerSegment + 1) * platform::kBusesPerSegment;
      const unsigned limit = next == ranges_.end() ? end : std::min(end, next->first);
      if (range->first + range->second.buses <= limit) continue;
      return BrokenRule{range->second.path + ".first_bus",
                        fmt::format("its {} buses from {:#x} on reach beyond bus {:#x}",
                                    range->second.buses, range->first, limit - 1)};
    }
    return std::nullopt;
  }

  struct Range {
    unsigned buses;
    std::string path;
  };
  const SystemConfig& system_;
  std::set<std::string> names_;
  std::map<unsigned, Range> ranges_;  // by first bus
  unsigned buses_ = 0;
};

}  // namespace

CheckResult check_topology(const SystemConfig& system) {
  return TopologyCheck(system).run();
}

CheckResult check_system(const SystemConfig& system) {
  for (std::size_t i = 0; i < system.cards.size(); ++i) {
    if (auto broken = check_chip(system.cards[i])) {
      return with_prefix(fmt::format("cards.{}.", i), *broken);
    }
  }
  const auto fabric = plan_fabric(system);
  if (!fabric) return fabric.error();
  return check_topology(system);
}

}  // namespace npu::model
