// SPDX-License-Identifier: Apache-2.0
// Every kind of mistake in a sweep's file, with the exact line that its author sees.
#include <gmock/gmock.h>

#include "tools/cli/sweep/sweep_reader.hpp"

namespace npu::sweep {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

const std::string kHead =
    "schema: npusim.sweep/1\nname: n\nworkload: enumerate\nconfiguration: 910b\n";

// Of a file with these lines behind a head of four; without the file's name.
std::string sweep_error(const std::string& lines) {
  const auto spec = parse_sweep(kHead + lines, "s");
  return spec ? "no error" : spec.error().message().substr(2);
}

std::vector<std::string> texts(const std::vector<PlacedText>& values) {
  std::vector<std::string> all;
  all.reserve(values.size());
  for (const auto& value : values) all.push_back(value.text);
  return all;
}

TEST(SweepReader, EveryKeyIsRead) {
  const auto spec = parse_sweep(
      "schema: npusim.sweep/1\nname: n.1\nworkload: w\nconfiguration: [a, b]\n"
      "grid:\n  x: [1, 2]\n  y: {from: 1, to: 4, factor: 2}\n  z: only\n"
      "list:\n  - {p: 1, q: 2}\n  - {q: 4, p: 3}\n"
      "seeds: {from: 1, to: 3, step: 1}\nmetrics: [\"a.*\"]\nobjectives: {t: min, u: max}\n",
      "s");
  ASSERT_TRUE(spec) << spec.error().message();
  EXPECT_EQ(spec->name, "n.1");
  EXPECT_EQ(spec->workload.text, "w");
  EXPECT_THAT(texts(spec->configurations), ElementsAre("a", "b"));
  ASSERT_THAT(spec->grid, SizeIs(3));
  EXPECT_THAT(texts(spec->grid[1].values), ElementsAre("1", "2", "4"));
  EXPECT_THAT(texts(spec->grid[2].values), ElementsAre("only"));
  EXPECT_THAT(texts(spec->seeds), ElementsAre("1", "2", "3"));
  ASSERT_THAT(spec->metrics, SizeIs(1));
  EXPECT_EQ(spec->metrics[0].pattern.text, "a.*");
  ASSERT_THAT(spec->objectives, SizeIs(2));
  EXPECT_EQ(spec->objectives[1].goal, Goal::kMaximum);
}

TEST(SweepReader, EntriesOfTheListHaveTheFirstOnesOrder) {
  const auto spec = parse_sweep(kHead + "list:\n  - {p: 1, q: 2}\n  - {q: 4, p: 3}\n", "s");
  ASSERT_TRUE(spec);
  ASSERT_THAT(spec->list, SizeIs(2));
  EXPECT_EQ(spec->list[1][0].key.text, "p");
  EXPECT_EQ(spec->list[1][0].value.text, "3");
}

TEST(SweepReader, UnknownMissingAndDuplicateKeysArePlaced) {
  EXPECT_EQ(sweep_error("gird: {x: 1}\n"), "5:1: unknown key 'gird'; did you mean 'grid'?");
  EXPECT_EQ(sweep_error("name: m\n"), "5:1: duplicate key 'name', first on line 2");
  EXPECT_EQ(sweep_error("grid: {x: 1, x: 2}\n"), "5:14: grid: duplicate key 'x', first on line 5");
  EXPECT_EQ(sweep_error("objectives: {x: min, x: max}\n"),
            "5:22: objectives: duplicate key 'x', first on line 5");
  EXPECT_EQ(parse_sweep("schema: npusim.sweep/1\nname: n\nworkload: w\n", "s").error().message(),
            "s:1:1: missing key 'configuration'");
}

TEST(SweepReader, SchemaAndNameAreChecked) {
  EXPECT_EQ(parse_sweep("schema: npusim.sweep/2\nname: n\nworkload: w\nconfiguration: a\n", "s")
                .error()
                .message(),
            "s:1:9: schema: found 'npusim.sweep/2'; allowed: npusim.sweep/1");
  for (const auto* name : {"../x", ".", "-x", "a b", "\"\"", "a/b"}) {
    const auto spec = parse_sweep(
        "schema: npusim.sweep/1\nname: " + std::string(name) + "\nworkload: w\nconfiguration: a\n",
        "s");
    ASSERT_FALSE(spec) << name;
    EXPECT_EQ(spec.error().message().substr(0, 12), "s:2:7: name:") << spec.error().message();
  }
}

TEST(SweepReader, ValuesAreValuesListsOrRanges) {
  const std::string allowed =
      "allowed: a value, a list of values, or {from, to, step} or {from, to, factor}";
  EXPECT_EQ(sweep_error("grid:\n  x:\n"), "6:3: grid.x: found nothing; " + allowed);
  EXPECT_EQ(sweep_error("grid: {x: []}\n"),
            "5:11: grid.x: found an empty list; allowed: a value or more");
  EXPECT_EQ(sweep_error("grid: {x: [[1]]}\n"),
            "5:12: grid.x: found a list; allowed: a single value");
  EXPECT_EQ(sweep_error("grid: {}\n"), "5:7: grid: found an empty section; allowed: a key or more");
  EXPECT_EQ(sweep_error("grid: [1]\n"),
            "5:7: grid: found a list; allowed: a section of keys and values");
  EXPECT_EQ(sweep_error("grid: {x: \"a\\nb\"}\n"),
            "5:11: grid.x: found 'a b'; allowed: text without control characters");
}

TEST(SweepReader, ARangeHasEndsAndEitherStepOrFactor) {
  EXPECT_EQ(sweep_error("grid: {x: {from: 1, step: 1}}\n"), "5:11: grid.x: missing key 'to'");
  EXPECT_EQ(sweep_error("grid: {x: {from: 1, to: 2}}\n"),
            "5:11: grid.x: a range has either a step or a factor");
  EXPECT_EQ(sweep_error("grid: {x: {from: 1, to: 2, step: 1, factor: 2}}\n"),
            "5:11: grid.x: a range has either a step or a factor");
  EXPECT_EQ(
      sweep_error("grid: {x: {from: 1, to: many, step: 1}}\n"),
      "5:25: grid.x: to: found 'many'; allowed: an integer, a size such as 4KiB, or a decimal "
      "such as 0.75");
}

TEST(SweepReader, EveryEntryOfTheListHasTheSameKeys) {
  EXPECT_EQ(sweep_error("list: [{p: 1}, {q: 1}]\n"),
            "5:17: list: key 'q' is not in the first entry: all have the same");
  EXPECT_EQ(sweep_error("list: [{p: 1, q: 1}, {q: 1}]\n"), "5:22: list: missing key 'p'");
  EXPECT_EQ(sweep_error("list: []\n"),
            "5:7: list: found an empty list; allowed: a list of sections");
  EXPECT_EQ(sweep_error("list: [{p: [1]}]\n"),
            "5:12: list.p: found a list; allowed: a single value");
}

TEST(SweepReader, SeedsAreNumbersAndGoalsAreTwo) {
  EXPECT_EQ(sweep_error("seeds: [1, -1]\n"),
            "5:12: seeds: found '-1'; allowed: 0..18446744073709551615");
  EXPECT_EQ(sweep_error("objectives: {x: low}\n"),
            "5:17: objectives.x: found 'low'; allowed: min, max");
}

TEST(SweepReader, AHundredThousandPointsAreTheMost) {
  const std::string hundred = "{from: 1, to: 100, step: 1}";
  EXPECT_EQ(sweep_error("grid: {x: " + hundred + ", y: " + hundred +
                        "}\nseeds: " + "{from: 1, to: 10, step: 1}\n"),
            "no error");
  EXPECT_EQ(sweep_error("grid: {x: " + hundred + ", y: " + hundred +
                        "}\nseeds: " + "{from: 1, to: 11, step: 1}\n"),
            "5:1: found 110000 points; allowed: 100000 at most");
}

}  // namespace
}  // namespace npu::sweep
