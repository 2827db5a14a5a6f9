// SPDX-License-Identifier: Apache-2.0
// What connects the memories of a system's cards: parts that bring nodes and links, and how ways
// through them are chosen. fabric_plan.hpp makes single nodes and links of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::model {

// Both directions of a link are alike.
struct FabricLinkConfig {
  std::uint64_t rate;       // bytes per second on the wire, each way
  Bytes packet_payload;     // data of one packet
  Bytes packet_overhead;    // header, CRC and flow control of each packet, in wire bytes
  Picoseconds propagation;  // transmitter to the far receiver, one way
  Bytes receive_buffer;     // credits: data that a receiver holds, of each class
};

// Which of several shortest ways a message takes.
enum class FabricRouting {
  kTable,  // one per node and destination
  kEcmp,   // by a hash of source, destination and flow
};

enum class FabricForm {
  kNone,      // no links
  kFullMesh,  // cards: every two have a link, with the keys of their chips (hccs)
  kRing,      // the same of neighbours, and of the last and the first
  kPairs,     // the first node and the second, the third and the fourth: dies of a card
  kLinks,     // each node and the one at its place in `to`
  kSwitches,
  kNics,  // one per node
};

enum class FabricAttach {
  kOneSwitch,    // the nodes in as many groups as there are switches
  kEverySwitch,  // each node has a link to each switch
};

enum class FabricForwarding {
  kStore,       // a packet is sent on when all of it is there
  kCutThrough,  // when its header is
};

struct FabricPart {
  FabricForm form = FabricForm::kNone;
  std::string name;                // kSwitches, kNics: its nodes are name0, name1, ...
  std::vector<std::string> nodes;  // "card3", "card0-7"; none: all cards
  std::vector<std::string> to;     // kLinks
  unsigned count = 0;              // kSwitches
  FabricAttach attach = FabricAttach::kOneSwitch;
  Picoseconds latency;  // of a switch or NIC, receiver to transmitter
  FabricForwarding forwarding = FabricForwarding::kStore;
  FabricLinkConfig link{};
};

struct FabricConfig {
  FabricRouting routing = FabricRouting::kTable;
  std::vector<FabricPart> parts;
};

}  // namespace npu::model
