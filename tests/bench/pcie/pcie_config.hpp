// SPDX-License-Identifier: Apache-2.0
// A machine for the PCIe benches, with round numbers that are easy to add up.
#pragma once

#include "model/config/system_config.hpp"
#include "npu/abi/identity.hpp"

namespace npu::test {

inline model::LinkConfig link_config() {
  model::LinkConfig link{};
  link.generation = 4;
  link.lanes = 16;
  link.max_payload = 256;
  link.max_read_request = 512;
  link.tlp_framing = 8;
  link.dllp_per_tlp = 4;
  link.propagation = 50_ns;
  link.header_credits = 128;
  link.data_credits = 32_KiB;
  link.credit_update = 10_ns;
  return link;
}

inline model::ChipConfig chip_config() {
  model::ChipConfig chip{};
  chip.name = "910b";
  chip.pci = {abi::kDevice910b,
              0x19E5,
              0x0100,
              0x20,
              0x1122334455667788,
              32_KiB,
              64_GiB,
              128,
              8,
              0xD805,
              8,
              1,
              64_KiB,
              4_GiB};
  chip.link = link_config();
  chip.endpoint = {20_ns, 15_ns, 40_ns, 50_us, 1_ms};
  return chip;
}

inline model::PciNodeConfig card_node(int card) {
  model::PciNodeConfig node{};
  node.kind = model::PciNodeKind::kCard;
  node.card = card;
  return node;
}

inline model::PciNodeConfig node_of(model::PciNodeKind kind,
                                    std::vector<model::PciNodeConfig> children = {}) {
  model::PciNodeConfig node{};
  node.kind = kind;
  node.link = link_config();
  node.switch_latency = 100_ns;
  node.children = std::move(children);
  return node;
}

inline model::SystemConfig empty_system() {
  model::SystemConfig system{};
  system.root_complex = {60_ns, 100_us, 200_us, 64};
  return system;
}

// One card below root port 00:00.0; 00:01.0 is an empty slot.
inline model::SystemConfig one_card() {
  using model::PciNodeKind;
  auto system = empty_system();
  system.cards = {chip_config()};
  system.host_bridges = {
      {"bridge0",
       0,
       0,
       {node_of(PciNodeKind::kRootPort, {card_node(0)}), node_of(PciNodeKind::kRootPort)}}};
  return system;
}

// Two host bridges on two NUMA nodes; a switch with two cards and an empty slot below the first,
// a card of two functions below the second.
inline model::SystemConfig two_bridges() {
  using model::PciNodeKind;
  auto system = empty_system();
  system.cards = {chip_config(), chip_config(), chip_config()};
  auto two_functions = card_node(2);
  two_functions.extra_functions = 1;
  system.host_bridges = {
      {"bridge0",
       0,
       0,
       {node_of(PciNodeKind::kRootPort,
                {node_of(PciNodeKind::kSwitch,
                         {card_node(0), node_of(PciNodeKind::kEmptySlot), card_node(1)})})}},
      {"bridge1", 1, 0x80, {node_of(PciNodeKind::kRootPort, {two_functions})}}};
  return system;
}

}  // namespace npu::test
