// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/json_text.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sweep/sample.hpp"

namespace npu::sweep {
namespace {

TEST(JsonText, NumbersKeepTheirDigits) {
  const auto document = parse_json(
      "{\"a\": 1019.770, \"b\": [-0.5, 12], \"c\": {\"d\": 123456789012345678901234567890}}");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->at("a"), "1019.770");
  EXPECT_EQ(document->at("b").at(0), "-0.5");
  EXPECT_EQ(document->at("b").at(1), "12");
  EXPECT_EQ(document->at("c").at("d"), "123456789012345678901234567890");
}

TEST(JsonText, StringsAndFlagsStayWhatTheyAre) {
  const auto document = parse_json("[\"a\\u00e9\\n\", true, null, {}, []]");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->dump(), "[\"a\u00e9\\n\",true,null,{},[]]");
}

TEST(JsonText, EveryPrefixOfAReportIsNoReport) {
  const std::string text = report_text(sample_identity(), {{"a.latency_ns", "1.500"}, {"b", "2"}});
  ASSERT_TRUE(parse_report(text));
  const std::size_t end = text.rfind('}');
  for (std::size_t length = 0; length <= end; ++length) {
    EXPECT_FALSE(parse_report(text.substr(0, length))) << length;
  }
}

TEST(JsonText, AReportHasASchemaAndMetricsWithDecimals) {
  EXPECT_FALSE(parse_report("{\"schema\": \"npusim.sweep/1\", \"metrics\": []}"));
  EXPECT_FALSE(parse_report("{\"schema\": \"npusim.report/2\"}"));
  EXPECT_FALSE(parse_report("{\"schema\": \"npusim.report/2\", \"metrics\": [{\"name\": \"a\"}]}"));
  EXPECT_FALSE(parse_report(
      "{\"schema\": \"npusim.report/2\", \"metrics\": [{\"name\": \"a\", \"value\": 1e5, \"unit\": "
      "\"\"}]}"));
  EXPECT_TRUE(parse_report("{\"schema\": \"npusim.report/2\", \"metrics\": []}"));
}

}  // namespace
}  // namespace npu::sweep
