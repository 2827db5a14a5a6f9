// SPDX-License-Identifier: Apache-2.0
#include "model/config/fabric_keys.hpp"

namespace npu::model {
namespace {

using keys::number;
using Part = FabricPart;

const Table& fabric_link_table() {
  using L = FabricLinkConfig;
  static const Table kTable{
      "",
      "a link of a fabric; both directions are independent",
      {
          number("rate_gb_per_s", &L::rate, 1, 2000, "on the wire, each way"),
          number("packet_payload_bytes", &L::packet_payload, 32, 4096, "data of one packet")
              .in_powers_of_two(),
          number("packet_overhead_bytes", &L::packet_overhead, 1, 256,
                 "header, CRC and flow control of each packet"),
          number("propagation_ns", &L::propagation, 0, 100'000,
                 "transmitter to the far receiver, one way"),
          number("receive_buffer_kib", &L::receive_buffer, 1, 65'536,
                 "credits: data that the receiver holds of requests, and in a switch or NIC of "
                 "responses, at each place on their ways"),
      }};
  return kTable;
}

Key form() {
  return keys::choice("form", &Part::form,
                      {"none", "full_mesh", "ring", "pairs", "links", "switches", "nics"},
                      "what the part is");
}
Key name() {
  return keys::make("name", KeyType::kName, &Part::name,
                    "its nodes are called so, with 0, 1, ... behind it");
}
Key nodes(std::string doc) {
  return keys::make("nodes", KeyType::kTexts, &Part::nodes, std::move(doc));
}
Key latency() {
  return number("latency_ns", &Part::latency, 0, 100'000, "receiver to transmitter");
}
Key forwarding() {
  return keys::choice("forwarding", &Part::forwarding, {"store", "cut_through"},
                      "a packet is sent on when all of it is there, or its header");
}
Key link() {
  return keys::section("link", &Part::link, fabric_link_table());
}

const std::string kNodes = "such as card0-7; left out: all cards";

Table of_cards(std::string doc) {
  return {"", std::move(doc), {form(), nodes(kNodes)}, {}};
}
Table of_pairs() {
  return {"",
          "links between the first node and the second, the third and the fourth, ...",
          {form(), nodes(kNodes), link()},
          {}};
}
Table of_links() {
  return {"",
          "links between each node and the one at its place in `to`",
          {form(), nodes(kNodes), keys::make("to", KeyType::kTexts, &Part::to, "as many"), link()},
          {}};
}
Table of_switches() {
  return {"",
          "switches, and their links to nodes",
          {form(), name(), number("count", &Part::count, 1, 1024, "of switches"),
           nodes("what is linked to them; left out: all cards"),
           keys::choice("attach", &Part::attach, {"one_switch", "every_switch"},
                        "the nodes in groups, one per switch, or each with a link to each switch"),
           latency(), forwarding(), link()},
          {}};
}
Table of_nics() {
  return {"",
          "network interfaces, one for each node",
          {form(), name(), nodes("whose they are; left out: all cards"), latency(), forwarding(),
           link()},
          {}};
}

}  // namespace

const Table& fabric_table() {
  using F = FabricConfig;
  static const Table kTable{
      "",
      "what connects the cards' memories (docs/fabric.md)",
      {keys::choice("routing", &F::routing, {"table", "ecmp"},
                    "of several shortest ways: one per node and destination, or by a hash of "
                    "source, destination and flow"),
       keys::make("parts", KeyType::kFabricParts, &F::parts, "its nodes and links")}};
  return kTable;
}

const Table& fabric_part_table(FabricForm form) {
  static const Table kNone = of_cards("no links"),
                     kFullMesh = of_cards("links between every two cards, with their keys `hccs`"),
                     kRing = of_cards(
                         "links between neighbours, and the last and the first card, with their "
                         "keys `hccs`"),
                     kPairs = of_pairs(), kLinks = of_links(), kSwitches = of_switches(),
                     kNics = of_nics();
  switch (form) {
    case FabricForm::kNone:
      break;
    case FabricForm::kFullMesh:
      return kFullMesh;
    case FabricForm::kRing:
      return kRing;
    case FabricForm::kPairs:
      return kPairs;
    case FabricForm::kLinks:
      return kLinks;
    case FabricForm::kSwitches:
      return kSwitches;
    case FabricForm::kNics:
      return kNics;
  }
  return kNone;
}

const std::vector<std::string>& fabric_words() {
  static const std::vector<std::string> kWords{"none", "full_mesh", "ring"};
  return kWords;
}

}  // namespace npu::model
