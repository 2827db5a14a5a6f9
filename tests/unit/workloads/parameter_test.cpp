// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/parameter.hpp"

#include <gmock/gmock.h>

namespace npu::workloads {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ParameterSet example() {
  return ParameterSet({
      {"iterations", ParameterType::kInteger, "", "5", "how often", 1, 100},
      {"size", ParameterType::kSize, "B", "4KiB", "one size", 64, 1_GiB},
      {"sizes", ParameterType::kSizeList, "B", "64..1KiB", "sizes", 64, 1_GiB},
      {"streams", ParameterType::kIntegerList, "", "1,8", "streams", 1, 64},
      {"policy", ParameterType::kChoice, "", "polling", "how", 0, 0, {"polling", "interrupt"}},
      {"verify", ParameterType::kFlag, "", "on", "check", 0, 1},
  });
}

TEST(Parameters, StartWithTheirDefaults) {
  const auto set = example();
  EXPECT_EQ(set.integer("iterations"), 5U);
  EXPECT_EQ(set.size("size"), 4_KiB);
  EXPECT_THAT(set.sizes("sizes"), ElementsAre(64U, 128U, 256U, 512U, 1024U));
  EXPECT_THAT(set.integers("streams"), ElementsAre(1U, 8U));
  EXPECT_EQ(set.choice("policy"), "polling");
  EXPECT_TRUE(set.flag("verify"));
}

TEST(Parameters, AreSetFromAssignments) {
  auto set = example();
  ASSERT_TRUE(set.assign("size=2MiB"));
  ASSERT_TRUE(set.assign("verify=off"));
  ASSERT_TRUE(set.assign("policy=interrupt"));
  EXPECT_EQ(set.size("size"), 2_MiB);
  EXPECT_FALSE(set.flag("verify"));
  EXPECT_EQ(set.choice("policy"), "interrupt");
}

TEST(Parameters, TextIsTakenAsItIs) {
  ParameterSet set({{"text", ParameterType::kText, "", "", "anything"}});
  EXPECT_EQ(set.choice("text"), "");
  ASSERT_TRUE(set.assign("text=batch=4,blocks=8"));
  EXPECT_EQ(set.choice("text"), "batch=4,blocks=8");
  EXPECT_EQ(set.texts().front().second, "batch=4,blocks=8");
}

TEST(Parameters, ARangeDoublesAndEndsWithItsLastValue) {
  auto set = example();
  ASSERT_TRUE(set.assign("streams=1..6"));
  EXPECT_THAT(set.integers("streams"), ElementsAre(1U, 2U, 4U, 6U));
  ASSERT_TRUE(set.assign("sizes=64,4KiB..16KiB"));
  EXPECT_THAT(set.sizes("sizes"), ElementsAre(64U, 4_KiB, 8_KiB, 16_KiB));
}

TEST(Parameters, AnUnknownNameIsAnsweredWithTheNearest) {
  auto set = example();
  const auto status = set.assign("iteration=3");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(status.error().context, HasSubstr("did you mean 'iterations'?"));
}

TEST(Parameters, AnUnknownNameFarFromAllListsThem) {
  auto set = example();
  EXPECT_THAT(set.assign("xyzzyxyzzy=3").error().context, HasSubstr("known: iterations, size"));
}

TEST(Parameters, AWrongChoiceNamesTheChoices) {
  auto set = example();
  const auto status = set.assign("policy=poling");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kOutOfRange);
  EXPECT_THAT(status.error().context, HasSubstr("none of polling, interrupt"));
  EXPECT_THAT(status.error().context, HasSubstr("did you mean 'polling'?"));
}

TEST(Parameters, AValueOutsideItsRangeNamesTheRange) {
  auto set = example();
  const auto status = set.assign("size=2GiB");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kOutOfRange);
  EXPECT_THAT(status.error().context, HasSubstr("'2GiB' is outside 64B..1GiB"));
}

TEST(Parameters, AValueThatIsNoneIsToldWithWhatIsAllowed) {
  auto set = example();
  EXPECT_THAT(set.assign("iterations=x").error().context,
              HasSubstr("iterations: found 'x'; allowed: an integer, "));
  EXPECT_THAT(set.assign("size=4KB").error().context,
              HasSubstr("found '4KB'; allowed: a size such as 512B, 4KiB or 1MiB, 64B..1GiB"));
  EXPECT_THAT(set.assign("verify=maybe").error().context,
              HasSubstr("verify: found 'maybe'; allowed: on, off"));
}

TEST(Parameters, EveryElementOfAListIsChecked) {
  auto set = example();
  EXPECT_EQ(set.assign("streams=1,65").error().code, ErrorCode::kOutOfRange);
  EXPECT_EQ(set.assign("streams=1,,2").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set.assign("streams=8..2").error().code, ErrorCode::kInvalidArgument);
}

TEST(Parameters, AnElementTwiceInAListIsRefused) {
  auto set = example();
  for (const std::string twice : {"streams=2,2", "sizes=64,128,64B", "sizes=64..256,128"}) {
    const auto status = set.assign(twice);
    ASSERT_FALSE(status) << twice;
    EXPECT_EQ(status.error().code, ErrorCode::kOutOfRange);
    EXPECT_THAT(status.error().context, HasSubstr("is there twice"));
  }
  EXPECT_EQ(set.integers("streams"), (std::vector<std::uint64_t>{1, 8}));
}

TEST(Parameters, AListByPlaceMayHaveEqualElements) {
  ParameterSet set({list_by_place({"shape", ParameterType::kIntegerList, "", "1", "sides", 1, 9})});
  ASSERT_TRUE(set.assign("shape=3,3"));
  EXPECT_EQ(set.integers("shape"), (std::vector<std::uint64_t>{3, 3}));
}

class BadNumber : public testing::TestWithParam<const char*> {};
TEST_P(BadNumber, IsRefusedAndTheOldValueKept) {
  auto set = example();
  const auto status = set.set("iterations", GetParam());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set.integer("iterations"), 5U);
}
INSTANTIATE_TEST_SUITE_P(Texts, BadNumber,
                         testing::Values("", "x", "-1", "1.5", "5 ", "0x10", "1KiB",
                                         "99999999999999999999"));

TEST(Parameters, ASizeThatOverflowsIsRefused) {
  auto set = example();
  EXPECT_EQ(set.assign("size=99999999999TiB").error().code, ErrorCode::kInvalidArgument);
}

TEST(Parameters, AnAssignmentNeedsAnEqualsSign) {
  auto set = example();
  EXPECT_THAT(set.assign("iterations").error().context, HasSubstr("key=value"));
  EXPECT_EQ(set.assign("=3").error().code, ErrorCode::kInvalidArgument);
}

TEST(Parameters, ValuesAreNumbersAndFlagsWhereTheyCan) {
  auto set = example();
  ASSERT_TRUE(set.assign("size=2KiB"));
  const auto values = set.values();
  EXPECT_EQ(values[1].name, "size");
  EXPECT_THAT(values[1].elements, ElementsAre("2048"));
  EXPECT_FALSE(values[1].is_text || values[1].is_list);
  EXPECT_THAT(values[2].elements, ElementsAre("64", "128", "256", "512", "1024"));
  EXPECT_TRUE(values[2].is_list);
  EXPECT_THAT(values[5].elements, ElementsAre("true"));
}

TEST(Parameters, AnErrorRepeatsTheBeginningOfALongValue) {
  auto set = example();
  const std::string value(21'504, 'a');
  const auto error = set.set("size", value).error().context;
  EXPECT_THAT(error, HasSubstr("aaa... (21504 bytes)"));
  EXPECT_LT(error.size(), 400U);
}

TEST(Parameters, SayOnceWhenOneIsReadThatIsWaitedFor) {
  auto set = example();
  std::vector<std::string> read;
  const auto wait = [&] {
    set.before_reading({"size", "policy"}, [&](std::string_view name) {
      read.emplace_back(name);
      ASSERT_TRUE(set.assign("policy=interrupt"));
    });
  };
  wait();
  EXPECT_EQ(set.integer("iterations"), 5U);
  EXPECT_TRUE(read.empty());
  EXPECT_EQ(set.choice("policy"), "interrupt");
  EXPECT_EQ(set.size("size"), 4_KiB);
  EXPECT_THAT(read, ElementsAre("policy"));
  wait();
  EXPECT_EQ(set.texts().size(), 6U);
  EXPECT_THAT(read, ElementsAre("policy", "size"));
}

TEST(Parameters, TextsAreCanonical) {
  auto set = example();
  ASSERT_TRUE(set.assign("size=4096"));
  ASSERT_TRUE(set.assign("verify=yes"));
  const auto texts = set.texts();
  EXPECT_EQ(texts[1].second, "4KiB");
  EXPECT_EQ(texts[2].second, "64B,128B,256B,512B,1KiB");
  EXPECT_EQ(texts[5].second, "on");
}

}  // namespace
}  // namespace npu::workloads
