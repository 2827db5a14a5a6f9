// SPDX-License-Identifier: Apache-2.0
// The section `fabric`: what its parts stand for, and each mistake in one line.
#include "model/config/fabric_plan.hpp"
#include "tests/unit/config/config_test.hpp"

namespace npu::model {
namespace {

class Fabric : public ConfigTest {
 protected:
  // Eight 910B with this fabric.
  std::string eight(const std::string& fabric) const {
    return write("system.yaml", with_line("system-8x910b.yaml", "fabric:", fabric));
  }
  FabricPlan plan(const std::string& fabric) const {
    return *plan_fabric(must(load(eight(fabric))));
  }
  std::string error(const std::string& fabric) const {
    const auto message = error_of(eight(fabric));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    const auto begin = message.rfind("fabric");
    return begin == std::string::npos ? message : message.substr(message.find("fabric"));
  }
  static std::string part(const std::string& keys) {
    return "fabric:\n  routing: table\n  parts:\n" + keys;
  }
  static std::string more(const std::string& keys) { return "    - " + keys + "\n" + kLink; }
  static std::string sw(const std::string& nodes, const std::string& count = "1") {
    return more("form: switches\n      name: sw\n      count: " + count +
                "\n      nodes: " + nodes +
                "\n      attach: one_switch\n      latency_ns: 200\n      forwarding: store");
  }

  static inline const std::string kLink =
      "      link:\n        rate_gb_per_s: 100\n        packet_payload_bytes: 512\n"
      "        packet_overhead_bytes: 16\n        propagation_ns: 10\n"
      "        receive_buffer_kib: 64\n";
};

TEST_F(Fabric, AWordIsAPartOfAllCards) {
  EXPECT_EQ(plan("fabric: full_mesh").links.size(), 28U);
  EXPECT_EQ(plan("fabric: ring").links.size(), 8U);
  EXPECT_TRUE(plan("fabric: none").links.empty());
  EXPECT_EQ(must(load("system-8x910b", {"fabric=ring"})).fabric.parts[0].form, FabricForm::kRing);
}

TEST_F(Fabric, LinksBetweenCardsAreTheirPortsOwn) {
  const auto links = plan("fabric: ring").links;
  EXPECT_EQ(links[0].name, "hccs0_1");
  EXPECT_EQ(links[1].name, "hccs0_7");
  EXPECT_EQ(links[0].from_low.rate, 28'000'000'000U);
}

TEST_F(Fabric, SwitchesAndPairsMakeASuperNode) {
  const auto all = plan(part(more("form: pairs") + sw("[card0-7]", "2")));
  EXPECT_EQ(all.nodes.size(), 10U);
  EXPECT_EQ(all.links.size(), 12U);
  EXPECT_TRUE(all.between(0, 1));
  EXPECT_FALSE(all.between(1, 2));
  EXPECT_TRUE(all.between(3, 8)) << "the first half at sw0";
  EXPECT_TRUE(all.between(4, 9));
  EXPECT_EQ(all.links[all.between(4, 9).value()].name, "fabric_card4_sw1");
}

TEST_F(Fabric, EachMistakeIsOneLine) {
  EXPECT_EQ(error("fabric: mesh"),
            "fabric: found 'mesh'; allowed: none, full_mesh, ring, or a section of keys");
  EXPECT_EQ(error(part("    - form: full_mesh\n      nodes: [card0-8]\n")),
            "fabric.parts.0.nodes: there is no node 'card8' here or before; do you mean 'card0'?");
  EXPECT_EQ(error(part("    - form: full_mesh\n      nodes: [card0-6]\n")),
            "fabric: 'card7' has no link");
  EXPECT_EQ(error(part("    - form: ring\n    - form: full_mesh\n      nodes: [card2, card3]\n")),
            "fabric.parts.1.nodes: a second link between 'card2' and 'card3'");
  EXPECT_EQ(error(part(sw("[card0-7, card3]"))),
            "fabric.parts.0.nodes: 'card3' stands there twice");
  EXPECT_EQ(error(part(sw("[card0-99999999999]"))),
            "fabric.parts.0.nodes: there is no node 'card0-99999999999' here or before");
  EXPECT_EQ(error(part(sw("[card7-0]"))), "fabric.parts.0.nodes: 'card7-0' goes backwards");
  EXPECT_EQ(error(part(sw("[card0-7]", "3"))),
            "fabric.parts.0.count: 8 nodes cannot be shared evenly by 3 switches");
  EXPECT_EQ(error(part(sw("[card0-7]") + sw("[card0-7]"))),
            "fabric.parts.1.name: 'sw0' is taken by another node");
  EXPECT_EQ(error(part(more("form: pairs\n      nodes: [card0-2]"))),
            "fabric.parts.0.nodes: 3 nodes make no pairs");
  EXPECT_EQ(error(part(more("form: links\n      nodes: [card0]\n      to: [card0]"))),
            "fabric.parts.0.nodes: 'card0' has a link to itself");
  EXPECT_EQ(error(part(more("form: links\n      nodes: [card0]\n      to: [card1-2]"))),
            "fabric.parts.0.to: `to` names 2 nodes, `nodes` names 1");
}

// fabric_card0_t0_u0 is card0 with t0_u0, and card0_t0 with u0.
TEST_F(Fabric, LinksOfOneNameAreRefused) {
  const auto named = [](const std::string& name, const std::string& nodes) {
    auto text = sw(nodes);
    return text.replace(text.find("name: sw"), 8, "name: " + name);
  };
  EXPECT_EQ(error(part(named("t0_u", "[card0-7]") + named("card0_t", "[card0-7]") +
                       named("u", "[card0-7, card0_t0]"))),
            "fabric.parts.2.name: two links would have the name 'fabric_card0_t0_u0'");
}

TEST_F(Fabric, LinksAreCounted) {
  auto text = sw("[card0-7]", "1024");
  text.replace(text.find("one_switch"), 10, "every_switch");
  auto more = text;
  more.replace(more.find("name: sw"), 8, "name: tw");
  more.replace(more.find("[card0-7]"), 9, "[sw0-1023]");
  EXPECT_EQ(plan(part(text)).links.size(), 8192U);
  EXPECT_EQ(error(part(text + more)), "fabric.parts.1.nodes: more than 65536 links");
}

TEST_F(Fabric, RatesAndBuffersHaveLimits) {
  const std::vector<std::string> zero{"fabric.parts.0.link.rate_gb_per_s=0"};
  EXPECT_NE(error_of("system-16x910c", zero).find("allowed: 1..2000 GB/s"), std::string::npos);
  const std::vector<std::string> small{"fabric.parts.1.link.receive_buffer_kib=2"};
  EXPECT_NE(error_of("system-16x910c", small)
                .find("2048 bytes never admit a message of dma.device_chunk_bytes, 4096"),
            std::string::npos)
      << error_of("system-16x910c", small);
}

TEST_F(Fabric, APartNeedsAFormThatThereIs) {
  EXPECT_NE(error(part("    - nodes: [card0-7]\n")).find("missing key 'form'"), std::string::npos);
  EXPECT_NE(error(part("    - form: rings\n")).find("ring"), std::string::npos);
  EXPECT_NE(error(part("    - form: ring\n      link: 3\n")).find("unknown key 'link'"),
            std::string::npos);
}

TEST_F(Fabric, SuperNodesAreShortFiles) {
  const auto sixty_four = must(load("system-64x910c"));
  ASSERT_EQ(sixty_four.cards.size(), 64U);
  EXPECT_EQ(plan_fabric(sixty_four)->links.size(), 32U + 64U + 16U);
  EXPECT_EQ(must(load("system-16x910c", {"cards.5.hbm.usable_mib=2048"})).cards[5].hbm.usable,
            2048U * 1024 * 1024);
  const auto shown = show_system(sixty_four);
  EXPECT_EQ(show_system(must(load(write("shown.yaml", shown)))), shown);
}

TEST_F(Fabric, AWholeSuperNodeHasThreePciSegments) {
  const auto whole = must(load("system-384x910c"));
  ASSERT_EQ(whole.cards.size(), 384U);
  EXPECT_EQ(plan_fabric(whole)->links.size(), 192U + 384U + 4U * 24U);
  EXPECT_EQ(whole.host_bridges.back().first_bus, 0x2C0U);
}

// HCCS_LINKS has a bit for each of 384 cards.
TEST_F(Fabric, MoreCardsThanTheRegistersKnowAreRefused) {
  auto text = shipped_text("system-384x910c.yaml");
  const auto slots = text.rfind("                extra_functions");
  text.insert(text.find("chip: 910c.yaml", slots) + 15, R"(
  - name: pci12
    numa_node: 0
    first_bus: 0x300
    root_ports:
      - name: rp12
        children:
          - kind: card
            name: one_more
            extra_functions: 0
            chip: 910c.yaml)");
  EXPECT_NE(error_of(write("many.yaml", text), {"fabric=ring"})
                .find("links exist between at most 384 cards, here are 385"),
            std::string::npos);
}

TEST_F(Fabric, AFullMeshOfAllCardsHasTooManyLinks) {
  EXPECT_NE(error_of("system-384x910c", {"fabric=full_mesh"}).find("more than 65536 links"),
            std::string::npos);
}

// The buses of a segment end at 0xff, whether another segment follows or not.
TEST_F(Fabric, BusesDoNotReachIntoTheNextPciSegment) {
  auto text = shipped_text("system-384x910c.yaml");
  text.replace(text.find("first_bus: 0x0c0"), 16, "first_bus: 0x0e0");
  EXPECT_NE(
      error_of(write("segment.yaml", text)).find("its 35 buses from 0xe0 on reach beyond bus 0xff"),
      std::string::npos);
}

}  // namespace
}  // namespace npu::model
