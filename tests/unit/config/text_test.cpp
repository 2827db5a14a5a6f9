// SPDX-License-Identifier: Apache-2.0
// Numbers, units, names and the form of a message.
#include <gtest/gtest.h>

#include "model/config/value_text.hpp"
#include "npu/base/nearest_name.hpp"

namespace npu::model {
namespace {

std::optional<std::uint64_t> number(const std::string& text, const std::string& key) {
  return parse_number(text, unit_of(key));
}

TEST(NumberText, DecimalsAreExactInTheUnitOfTheKey) {
  EXPECT_EQ(number("12.5", "x_ns"), 12'500U);
  EXPECT_EQ(number("0.001", "x_ns"), 1U);
  EXPECT_EQ(number("1.50", "x_us"), 1'500'000U);
  EXPECT_EQ(number("1", "x_ps"), 1U);
  EXPECT_EQ(number("1.000", "x_ps"), 1U);
  EXPECT_EQ(number("2", "x_gib"), 2_GiB);
  EXPECT_EQ(number("0x1F", "x"), 31U);
}

TEST(NumberText, WhatTheUnitCannotHoldIsNoNumber) {
  for (const auto* text :
       {"0.0001", "1.2.3", "", ".", "1.", "-1", "+1", "1e3", "12abc", "0x", " 1"}) {
    EXPECT_EQ(number(text, "x_ns"), std::nullopt) << text;
  }
  EXPECT_EQ(number("0.5", "x_kib"), std::nullopt);
  EXPECT_EQ(number("18446744073709551616", "x"), std::nullopt);
  EXPECT_EQ(number("18446744073709551615", "x_kib"), std::nullopt);
}

TEST(NumberText, WritingAndReadingGiveTheSameNumber) {
  Key key;
  key.name = "x_ns";
  for (const std::uint64_t stored : {0U, 1U, 999U, 1'000U, 31'016U, 2'500'000U}) {
    EXPECT_EQ(parse_number(number_text(key, stored), unit_of(key.name)), stored);
  }
}

TEST(EditDistance, CountsSingleEditsAndSwaps) {
  EXPECT_EQ(edit_distance("lanes", "lanes"), 0U);
  EXPECT_EQ(edit_distance("lane", "lanes"), 1U);
  EXPECT_EQ(edit_distance("lnaes", "lanes"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("lnaes", {"generation", "lanes"}), "lanes");
  // Upper and lower case are no mistake of spelling.
  EXPECT_EQ(nearest_name("M", {"n", "m"}), "m");
  EXPECT_EQ(nearest_name("LNAES", {"generation", "lanes"}), "lanes");
  EXPECT_EQ(nearest_name("run", {"RUN"}), "RUN");
  EXPECT_EQ(nearest_name("iwat", {"wait", "iota"}), "wait");  // a swap is one edit
  EXPECT_EQ(nearest_name("quux", {"generation", "lanes"}), "");
  EXPECT_EQ(nearest_name("", {"a"}), "");
}

TEST(ConfigErrorText, IsOneLineWhateverWasFound) {
  ConfigError error;
  error.file = "a.yaml", error.line = 3, error.column = 7, error.key = "link.lanes";
  error.found = "'two\nlines'", error.allowed = "1, 2", error.suggestion = "x";
  EXPECT_EQ(error.message(),
            "a.yaml:3:7: link.lanes: found 'two lines'; allowed: 1, 2; did you mean 'x'?");
}

}  // namespace
}  // namespace npu::model
