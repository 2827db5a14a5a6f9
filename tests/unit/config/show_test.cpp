// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "tests/unit/config/config_test.hpp"

namespace npu::model {
namespace {

using Show = ConfigTest;

std::string value_of(const SystemConfig& system, const std::string& key) {
  for (const auto& each : all_values(system)) {
    if (each.key == key) return each.value;
  }
  return "none";
}

TEST_F(Show, WhatIsShownReadsBackAsTheSame) {
  for (const auto* name : {"910", "910b", "950", "910b2", "system-8x910b"}) {
    const auto system = must(load(name, {"link.propagation_ns=71.125"}));
    const auto shown = show_system(system);
    const auto again = must(load(write("shown.yaml", shown)));
    EXPECT_EQ(show_system(again), shown);
    ASSERT_EQ(again.cards.size(), system.cards.size());
    EXPECT_EQ(again.cards.back().link.propagation, 71'125_ps);
    EXPECT_EQ(again.cards.back().pci.serial_number, system.cards.back().pci.serial_number);
    EXPECT_EQ(again.cpu.wc_store, system.cpu.wc_store);
    EXPECT_EQ(again.cards.back().hbm.timings.trfc, system.cards.back().hbm.timings.trfc);
  }
}

TEST_F(Show, DerivedFiguresStandBesideTheValues) {
  const auto system = must(load("910b"));
  const auto shown = show_system(system);
  // 32 channels x 2 pseudo channels x 32 bytes x 1.2 GHz / 2 clocks; 16 GT/s x 16 x 128/130 / 8.
  EXPECT_NE(shown.find("# peak 1228.8 GB/s"), std::string::npos);
  EXPECT_NE(shown.find("# 31.507 GB/s each way"), std::string::npos);
}

TEST_F(Show, TextsReadBackAsTheSame) {
  const auto system = must(load("910b", {"faults=link_down,at=1us;lost_interrupt"}));
  const auto shown = show_system(system);
  EXPECT_NE(shown.find("faults:\n  - \"link_down,at=1us\"\n  - \"lost_interrupt\"\n"),
            std::string::npos);
  EXPECT_EQ(must(load(write("shown.yaml", shown))).faults, system.faults);
}

// A document of keys that are given the values, and the values of that, are the same ones.
TEST_F(Show, AllValuesHaveTheNamesOfOverrides) {
  const auto system = must(load("system-8x910b", {"cards.3.link.propagation_ns=71.125"}));
  const auto values = all_values(system);
  std::vector<std::string> overrides;
  for (const auto& each : values) {
    const bool topology = each.key.rfind("host_bridges.", 0) == 0;
    if (!topology && each.key.rfind("fabric.", 0) != 0)
      overrides.push_back(each.key + "=" + each.value);
  }
  const auto again = must(load("system-8x910b", overrides));
  EXPECT_EQ(show_system(again), show_system(system));
}

// Cards of one chip are read and written out once; one that differs is not taken for one of them.
TEST_F(Show, CardsOfOneChipHaveEachTheirOwnValues) {
  const auto system = must(load("system-8x910b", {"cards.3.link.propagation_ns=71.125"}));
  const auto plain = must(load("system-8x910b"));
  const std::string usual = value_of(plain, "cards.0.link.propagation_ns");
  for (int card = 0; card < 8; ++card) {
    const std::string key = "cards." + std::to_string(card) + ".link.propagation_ns";
    EXPECT_EQ(value_of(plain, key), usual);
    EXPECT_EQ(value_of(system, key), card == 3 ? "71.125" : usual);
  }
  const auto shown = show_system(system);
  const auto found = shown.find("propagation_ns: 71.125");
  ASSERT_NE(found, std::string::npos);
  EXPECT_EQ(shown.find("propagation_ns: 71.125", found + 1), std::string::npos);
  EXPECT_LT(shown.find("# card 3"), found);
  EXPECT_GT(shown.find("# card 4"), found);
}

TEST_F(Show, AllValuesSayOnceWhatAKeyIs) {
  const auto system = must(load("910b", {"link.propagation_ns=71.125"}));
  std::map<std::string, std::string> by_name;
  for (const auto& each : all_values(system)) {
    EXPECT_TRUE(by_name.emplace(each.key, each.value).second) << each.key;
  }
  EXPECT_EQ(by_name["cards.0.link.propagation_ns"], "71.125");
  EXPECT_EQ(by_name["cpu.poll_round_ns"], "20");
}

TEST_F(Show, TheReferenceInConfigsIsThatOfTheTables) {
  EXPECT_EQ(shipped_text("keys.md"), key_reference());
}

}  // namespace
}  // namespace npu::model
