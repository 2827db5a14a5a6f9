// SPDX-License-Identifier: Apache-2.0
// Every kind of mistake in a file, with the exact line that its author sees.
#include "tests/unit/config/config_test.hpp"

namespace npu::model {
namespace {

using Reader = ConfigTest;

TEST_F(Reader, AnUnknownKeyIsPlacedAndTheNearestNamed) {
  const auto file = chip_with("ai_cores:", "ai_coers: 64");
  EXPECT_EQ(error_of(file), file + ":" + std::to_string(line_of("910b.yaml", "ai_cores:")) +
                                ":1: unknown key 'ai_coers'; did you mean 'ai_cores'?");
}

TEST_F(Reader, AnUnknownKeyOfASectionSaysWhich) {
  const auto file = chip_with("lanes:", "  lnaes: 16");
  EXPECT_EQ(error_of(file), file + ":" + std::to_string(line_of("910b.yaml", "lanes:")) +
                                ":3: link: unknown key 'lnaes'; did you mean 'lanes'?");
}

TEST_F(Reader, AMissingKeyIsReportedWhereItsSectionBegins) {
  const auto file = chip_with("generation:", "");
  EXPECT_EQ(error_of(file), file + ":" + std::to_string(line_of("910b.yaml", "generation:")) +
                                ":3: link: missing key 'generation'; allowed: 1..5");
}

TEST_F(Reader, ADuplicateKeyNamesTheFirstLine) {
  const auto file = chip_with("lanes:", "  lanes: 16\n  lanes: 8");
  const int line = line_of("910b.yaml", "lanes:");
  EXPECT_EQ(error_of(file), file + ":" + std::to_string(line + 1) +
                                ":3: link: duplicate key 'lanes', first on line " +
                                std::to_string(line));
}

TEST_F(Reader, AValueOfAnotherTypeIsShown) {
  const auto file = chip_with("ai_cores:", "ai_cores: many");
  EXPECT_EQ(error_of(file), file + ":" + std::to_string(line_of("910b.yaml", "ai_cores:")) +
                                ":11: ai_cores: found 'many'; allowed: 1..256");
}

TEST_F(Reader, TextListsSectionsAndNothingAreNoNumbers) {
  const std::string place = ":" + std::to_string(line_of("910b.yaml", "ai_cores:")) + ":";
  for (const auto* value : {"'64'", "[64]", "{a: 1}", "", "64.5", "-1", "true"}) {
    const auto file = chip_with("ai_cores:", std::string("ai_cores: ") + value);
    const auto text = error_of(file);
    EXPECT_EQ(text.rfind(file + place, 0), 0U) << text;
    EXPECT_NE(text.find("allowed: 1..256"), std::string::npos) << text;
  }
}

TEST_F(Reader, AListOfTextMayBeMissingOrEmpty) {
  const auto with = [this](const std::string& faults) {
    return write("s.yaml", shipped_text("system-2x910b2.yaml") + faults);
  };
  EXPECT_EQ(must(load(with(""))).faults.size(), 0U);
  EXPECT_EQ(must(load(with("faults:\n"))).faults.size(), 0U);
  EXPECT_EQ(must(load(with("faults: []\n"))).faults.size(), 0U);
  EXPECT_EQ(must(load(with("faults:\n  - a,at=1us\n  - b\n"))).faults,
            (std::vector<std::string>{"a,at=1us", "b"}));
  EXPECT_EQ(must(load(with("faults: [\"a,at=1us\"]\n"))).faults,
            (std::vector<std::string>{"a,at=1us"}));
  for (const auto* const wrong : {"faults:\n  - a;b\n", "faults:\n  - [a]\n", "faults: {a: 1}\n"}) {
    EXPECT_NE(error_of(with(wrong)).find("allowed: a list of text"), std::string::npos) << wrong;
  }
}

TEST_F(Reader, AValueOutOfRangeSaysWhatIsAllowedInItsUnit) {
  const auto file = chip_with("propagation_ns:", "  propagation_ns: 100000.5");
  EXPECT_EQ(error_of(file),
            file + ":" + std::to_string(line_of("910b.yaml", "propagation_ns:")) +
                ":19: link.propagation_ns: found '100000.5'; allowed: 0..100000 ns");
}

TEST_F(Reader, ABarSizeThatIsNoPowerOfTwoIsRefused) {
  const auto file = chip_with("bar0_size_kib:", "  bar0_size_kib: 48");
  EXPECT_EQ(error_of(file),
            file + ":" + std::to_string(line_of("910b.yaml", "bar0_size_kib:")) +
                ":18: pci.bar0_size_kib: is no power of two; found '48'; allowed: 4..16384 KiB, a "
                "power of two");
}

TEST_F(Reader, AWidthThatNoLinkHasListsThoseThatExist) {
  const auto text = error_of(chip_with("lanes:", "  lanes: 12"));
  EXPECT_NE(text.find("link.lanes: found '12'; allowed: 1, 2, 4, 8, 16"), std::string::npos)
      << text;
}

TEST_F(Reader, AMisspeltChoiceIsCorrected) {
  const auto text = error_of(chip_with("  policy:", "  policy: shard_queue"));
  EXPECT_NE(text.find("hbm.policy: found 'shard_queue'; allowed: split_queues, shared_queue; did "
                      "you mean 'shared_queue'?"),
            std::string::npos)
      << text;
}

TEST_F(Reader, SyntaxErrorsAnchorsAndSecondDocumentsAreRefusedInPlace) {
  EXPECT_EQ(error_of(write("a.yaml", "a: [1\nb: 2\n")).rfind(path("a.yaml") + ":", 0), 0U);
  EXPECT_EQ(error_of(write("b.yaml", "a: &x 1\n")),
            path("b.yaml") + ":1:4: anchors are not used in configurations");
  EXPECT_EQ(error_of(write("c.yaml", "a: 1\n---\nb: 1\n")),
            path("c.yaml") + ":3:1: a file holds one document; a second begins here");
  EXPECT_EQ(error_of(write("d.yaml", "")), path("d.yaml") + ":1:1: the file is empty");
  EXPECT_EQ(error_of(write("e.yaml", std::string("a\0b", 3))),
            path("e.yaml") + ": not a text file");
  EXPECT_EQ(error_of(write("f.yaml", "a: !!str 1\n")),
            path("f.yaml") + ":1:4: tags are not used in configurations");
  EXPECT_EQ(error_of(write("g.yaml", "a: \xFF\n")).rfind(path("g.yaml") + ": not valid YAML:", 0),
            0U);
  EXPECT_EQ(error_of(write("h.yaml", "a: " + std::string(100'000, '['))),
            path("h.yaml") + ":1:67: sections and lists are nested too deep");
  EXPECT_EQ(error_of(write("i.yaml", "a: 1\n? [b]\n: 2\n")),
            path("i.yaml") + ":2:3: a key must be a name; found a list");
}

TEST_F(Reader, AFileOfAnotherSchemaIsRefused) {
  EXPECT_EQ(error_of(write("a.yaml", "schema: npusim.chip/2\n")),
            path("a.yaml") +
                ":1:9: schema: found 'npusim.chip/2'; allowed: npusim.chip/1, "
                "npusim.system/1");
  EXPECT_EQ(error_of(write("b.yaml", "name: x\n")),
            path("b.yaml") + ":1:1: schema: missing key; allowed: npusim.chip/1");
}

TEST_F(Reader, AReferenceToAMissingFileIsPlaced) {
  const auto file = chip_with("timings:", "  timings: hbm/none.yaml");
  EXPECT_EQ(error_of(file), file + ":" + std::to_string(line_of("910b.yaml", "timings:")) +
                                ":12: hbm.timings: no such file 'hbm/none.yaml'; allowed: a file "
                                "beside the one that names it, or a shipped one");
}

TEST_F(Reader, AFileThatRefersToItselfIsOneErrorAndNoLoop) {
  const auto file = write("self.yaml", with_line("910b.yaml", "timings:", "  timings: self.yaml"));
  EXPECT_EQ(error_of(file), file + ":" + std::to_string(line_of("910b.yaml", "schema:")) +
                                ":9: schema: found 'npusim.chip/1'; allowed: npusim.hbm/1");
}

TEST_F(Reader, AnUnknownNameListsTheNearest) {
  const auto text = error_of("910bb");
  EXPECT_EQ(text.rfind("no configuration '910bb'; allowed: ", 0), 0U) << text;
  EXPECT_NE(text.find("did you mean '910b'?"), std::string::npos) << text;
}

TEST_F(Reader, AFolderIsNoConfiguration) {
  EXPECT_EQ(error_of(kShipped), kShipped + ": is a directory");
}

TEST_F(Reader, ANodeOfAnUnknownKindIsPlaced) {
  const auto file =
      write("s.yaml", with_line("single-card.yaml", "kind: card", "          - kind: crad"));
  EXPECT_EQ(error_of(file),
            file + ":" + std::to_string(line_of("single-card.yaml", "kind: card")) +
                ":19: host_bridges.0.root_ports.0.children.0.kind: found 'crad'; allowed: "
                "root_port, switch, card, empty_slot, cards; did you mean 'card'?");
}

TEST_F(Reader, ASystemFileWhoseCardHasNoChipSaysSo) {
  const auto text = error_of("single-card");
  EXPECT_NE(text.find("missing key 'chip'"), std::string::npos) << text;
}

}  // namespace
}  // namespace npu::model
