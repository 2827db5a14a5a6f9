// SPDX-License-Identifier: Apache-2.0
// Chip and host files that begin with another one.
#include <gmock/gmock.h>

#include "tests/unit/config/config_test.hpp"

namespace npu::model {
namespace {

using Base = ConfigTest;
using testing::HasSubstr;

const std::string kHead = "schema: npusim.chip/1\nbase: 910b.yaml\nname: mine\n";

TEST_F(Base, KeysThatAreLeftOutAreThoseOfTheBase) {
  const auto system =
      must(load(write("mine.yaml", kHead + "ai_cores: 3\nlink:\n  generation: 5\n")));
  const auto base = load("910b.yaml");
  const ChipConfig& chip = system.cards[0];
  EXPECT_EQ(chip.name, "mine");
  EXPECT_EQ(chip.ai_cores, 3U);
  EXPECT_EQ(chip.link.generation, 5U);
  EXPECT_EQ(chip.link.propagation, base->cards[0].link.propagation);
  EXPECT_EQ(chip.hbm.timings.name, base->cards[0].hbm.timings.name);
}

TEST_F(Base, ABaseMayHaveABase) {
  write("first.yaml", kHead + "aicpus: 2\nai_cores: 7\n");
  const auto system = must(load(write(
      "second.yaml", "schema: npusim.chip/1\nbase: first.yaml\nname: second\nai_cores: 9\n")));
  EXPECT_EQ(system.cards[0].aicpus, 2U);
  EXPECT_EQ(system.cards[0].ai_cores, 9U);
}

TEST_F(Base, ASystemMayNameSuchAChip) {
  const auto chip = write("mine.yaml", kHead);
  const auto text = shipped_text("system-2x910b2.yaml");
  std::string changed = text;
  for (std::size_t at = 0; (at = changed.find("chip: 910b2.yaml")) != std::string::npos;) {
    changed.replace(at, 16, "chip: mine.yaml");
  }
  ASSERT_NE(changed, text);
  const auto system = must(load(write("two.yaml", changed)));
  EXPECT_EQ(system.cards[1].name, "mine");
}

TEST_F(Base, AHostMayHaveOne) {
  write("many.yaml", "schema: npusim.host/1\nbase: host.yaml\ncpu:\n  cores: 7\n");
  auto text = shipped_text("single-card.yaml");
  text.replace(text.find("host: host.yaml"), 15, "host: many.yaml");
  write("around.yaml", text);
  const auto mine = write("mine.yaml", kHead + "system: around.yaml\n");
  const auto system = must(load(mine));
  EXPECT_EQ(system.cpu.cores, 7U);
  EXPECT_EQ(system.cpu.clock_hz, must(load("910b.yaml")).cpu.clock_hz);
  write("many.yaml", "schema: npusim.host/1\nbase: 910b.yaml\n");
  EXPECT_THAT(error_of(mine), HasSubstr("npusim.host/1"));
}

TEST_F(Base, ErrorsNameTheFileAndLineTheyStandIn) {
  EXPECT_THAT(error_of(write("mine.yaml", kHead + "link:\n  generatoin: 5\n")),
              HasSubstr("mine.yaml:5:3"));
  EXPECT_THAT(error_of(write("mine.yaml", kHead + "dma:\n  engines: 99\n")),
              HasSubstr("mine.yaml:5:12"));
  write("wrong.yaml", with_line("910b.yaml", "engines:", "  engines: 99"));
  const auto line = std::to_string(line_of("910b.yaml", "engines:"));
  EXPECT_THAT(error_of(write("mine.yaml", "schema: npusim.chip/1\nbase: wrong.yaml\nname: mine\n")),
              HasSubstr("wrong.yaml:" + line));
}

TEST_F(Base, RulesBetweenValuesOfBothFilesAreChecked) {
  EXPECT_THAT(error_of(write("mine.yaml", kHead + "pci:\n  bar2_size_gib: 32\n")),
              HasSubstr("mine.yaml:5"));
}

TEST_F(Base, DuplicatesAreErrorsInEitherFile) {
  EXPECT_THAT(error_of(write("mine.yaml", kHead + "ai_cores: 3\nai_cores: 4\n")),
              HasSubstr("duplicate key 'ai_cores', first on line 4"));
  write("twice.yaml", shipped_text("910b.yaml") + "aicpus: 1\n");
  EXPECT_THAT(error_of(write("mine.yaml", "schema: npusim.chip/1\nbase: twice.yaml\nname: mine\n")),
              HasSubstr("twice.yaml"));
}

TEST_F(Base, ABaseThatIsNoneIsAnError) {
  const std::string head = "schema: npusim.chip/1\nname: mine\nbase: ";
  EXPECT_THAT(error_of(write("mine.yaml", head + "nothing.yaml\n")), HasSubstr("mine.yaml:3:7"));
  EXPECT_THAT(error_of(write("mine.yaml", head + "single-card.yaml\n")),
              HasSubstr("npusim.chip/1"));
  EXPECT_THAT(error_of(write("mine.yaml", head + "mine.yaml\n")), HasSubstr("too many files"));
}

}  // namespace
}  // namespace npu::model
