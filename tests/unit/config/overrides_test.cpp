// SPDX-License-Identifier: Apache-2.0
#include "model/config/short_keys.hpp"
#include "tests/unit/config/config_test.hpp"

namespace npu::model {
namespace {

using Overrides = ConfigTest;

TEST_F(Overrides, AChipKeyChangesEveryCardAndAHostKeyTheHost) {
  const auto system = must(load("system-8x910b", {"link.generation=5", "cpu.call_ns=123.5"}));
  for (const auto& card : system.cards) EXPECT_EQ(card.link.generation, 5U);
  EXPECT_EQ(system.cpu.call, 123'500_ps);
}

TEST_F(Overrides, ACardNumberChangesOneCardAndWins) {
  const auto system = must(load("system-8x910b", {"ai_cores=10", "cards.2.ai_cores=20"}));
  EXPECT_EQ(system.cards[1].ai_cores, 10U);
  EXPECT_EQ(system.cards[2].ai_cores, 20U);
}

TEST_F(Overrides, TheyReachThroughReferencesAndLists) {
  const auto system = must(load("system-8x910b", {"hbm.timings.trp_clocks=16",
                                                  "host_bridges.0.root_ports.0.children.0."
                                                  "switch_latency_ns=150"}));
  EXPECT_EQ(system.cards[7].hbm.timings.trp, 16U);
  EXPECT_EQ(system.host_bridges[0].root_ports[0].children[0].switch_latency, 150_ns);
}

TEST_F(Overrides, AReferenceCanBeReplacedByAShippedFile) {
  const auto system = must(load("910b", {"hbm.timings=hbm/hbm2e_3200.yaml"}));
  EXPECT_EQ(system.cards[0].hbm.timings.clock_hz, 1'600'000'000U);
}

TEST_F(Overrides, TextsAreAListWithSemicolonsBetween) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(must(load("910b")).faults, Texts{});
  EXPECT_EQ(must(load("910b", {"faults="})).faults, Texts{});
  EXPECT_EQ(must(load("910b", {"faults=a,at=1us"})).faults, Texts{"a,at=1us"});
  EXPECT_EQ(must(load("910b", {"faults=a;;b;"})).faults, (Texts{"a", "b"}));
}

TEST_F(Overrides, ErrorsNameTheArgument) {
  EXPECT_EQ(error_of("910b", {"link.generation=9"}),
            "--set link.generation=9: link.generation: found '9'; allowed: 1..5");
  EXPECT_EQ(error_of("910b", {"link=9"}),
            "--set link=9: link: found '9'; allowed: a section of keys");
  EXPECT_EQ(error_of("910b", {"link.generation"}),
            "--set link.generation: not of the form key=value");
  EXPECT_EQ(error_of("910b", {"a=1", "a=2"}), "--set a=2: 'a' is set twice");
}

TEST_F(Overrides, AnUnknownKeySuggestsTheNearest) {
  EXPECT_EQ(error_of("910b", {"link.lnaes=8"}),
            "--set link.lnaes=8: unknown key 'link.lnaes'; did you mean 'link.lanes'?");
  EXPECT_EQ(nearest_key("lnaes"), "link.lanes");
  EXPECT_EQ(nearest_key("host.cpu.clok"), "host.cpu.clock_mhz");
  EXPECT_EQ(nearest_key("cpu.clok_mhz"), "cpu.clock_mhz");
  EXPECT_EQ(nearest_key("frobnicate.the.card"), "");
  EXPECT_EQ(nearest_key("."), "");
  EXPECT_EQ(error_of("910b", {"cards.1.link.lanes=8"})
                .rfind("--set cards.1.link.lanes=8: unknown key 'cards.1.link.lanes'", 0),
            0U);
}

TEST_F(Overrides, EveryListedKeyIsOneThatCanBeSet) {
  for (const auto& key : override_keys()) {
    const auto text = error_of("910b", {key + "=?"});
    if (key == "faults") continue;  // any text
    EXPECT_EQ(text.find("unknown key"), std::string::npos) << text;
    EXPECT_EQ(text.rfind("--set " + key + "=?", 0), 0U) << text;
  }
}

}  // namespace
}  // namespace npu::model
