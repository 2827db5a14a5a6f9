// SPDX-License-Identifier: Apache-2.0
// That the parser of metrics finds what is wrong when shown it.
#include "tests/system/cli/prometheus_parser.hpp"

#include <gtest/gtest.h>

namespace npu::test {
namespace {

const std::string kHead = "# HELP a text\n# TYPE a gauge\n";

std::string error_of(const std::string& text) {
  return PrometheusText(text).error();
}

TEST(PrometheusParser, ReadsSamplesWithLabels) {
  const PrometheusText text(kHead + "a{x=\"1\",y=\"q\\\"\\\\\\n\"} 2.5\na 3\n");
  EXPECT_EQ(text.error(), "");
  EXPECT_EQ(text.samples().at("a"), 3);
  EXPECT_EQ(text.samples().size(), 2U);
}

TEST(PrometheusParser, FindsAFamilyInTwoPlacesOrToldTwice) {
  const std::string b = "# HELP b text\n# TYPE b gauge\n";
  EXPECT_NE(error_of(kHead + "a 1\n" + b + "b 1\na{x=\"1\"} 2\n"), "");
  EXPECT_NE(error_of(kHead + kHead + "a 1\n"), "");
  EXPECT_NE(error_of(kHead + "a 1\na 1\n"), "") << "one sample twice";
  EXPECT_NE(error_of("# HELP a text\na 1\n# TYPE a gauge\n"), "");
}

TEST(PrometheusParser, FindsWhatIsNotOfTheFormat) {
  EXPECT_NE(error_of(""), "");
  EXPECT_NE(error_of(kHead + "a 1"), "") << "no line feed";
  EXPECT_NE(error_of(kHead + "a one\n"), "");
  EXPECT_NE(error_of(kHead + "a{x=1} 1\n"), "");
  EXPECT_NE(error_of(kHead + "a{x=\"1\" 1\n"), "");
  EXPECT_NE(error_of(kHead + "a{x=\"\\q\"} 1\n"), "");
  EXPECT_NE(error_of(kHead + "a{x=\"1\",x=\"2\"} 1\n"), "");
  EXPECT_NE(error_of(kHead + "\n"), "");
  EXPECT_NE(error_of("# TYPE a number\n"), "");
  EXPECT_NE(error_of("# HELP a text\n# TYPE a counter\na -1\n"), "");
  EXPECT_NE(error_of("1a 2\n"), "");
}

}  // namespace
}  // namespace npu::test
