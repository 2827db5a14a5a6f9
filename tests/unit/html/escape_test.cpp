// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/html/escape.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace npu::reports {
namespace {

constexpr std::string_view kAwkward[] = {"</script>",
                                         "<!--",
                                         "]]>",
                                         "&lt;",
                                         "\xE2\x80\xA8",
                                         "\xE2\x80\xA9",
                                         "\xE2\x80\xA7",
                                         "\\u003c",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "<",
                                         "\xE2\x82\xAC",
                                         "a",
                                         "\xF0\x9F\x98\x80"};

std::string random_text(std::mt19937& random) {
  std::string text;
  for (auto pieces = random() % 12; pieces > 0; --pieces) {
    text += kAwkward[random() % std::size(kAwkward)];
  }
  return text;
}

TEST(ScriptSafe, NoTextOfTheJsonCanEndTheElement) {
  const std::string safe = script_safe(R"(["</script><script>alert(1)</script>", "<!-- &"])");
  EXPECT_EQ(safe.find_first_of("<>&"), std::string::npos) << safe;
}

TEST(ScriptSafe, LineSeparatorsOfJavaScriptAreEscaped) {
  EXPECT_EQ(script_safe("\"a\xE2\x80\xA8z\xE2\x80\xA9\""), "\"a\\u2028z\\u2029\"");
}

TEST(ScriptSafe, OtherCharactersOfThatBlockAndCutOnesStay) {
  for (const std::string text : {"\xE2\x80\xA7", "\xE2\x80", "\xE2", "\xE2\x81\xA8", "\xA8\xA9"}) {
    EXPECT_EQ(script_safe(text), text);
  }
}

TEST(ScriptSafe, AnyJsonMeansTheSameAfterwards) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const nlohmann::json before = {{random_text(random), random_text(random)}, {"n", 1.500}};
    const std::string safe = script_safe(before.dump());
    EXPECT_EQ(nlohmann::json::parse(safe), before) << safe;
    EXPECT_EQ(safe.find_first_of("<>&"), std::string::npos) << safe;
  }
}

TEST(HtmlText, MarkupBecomesText) {
  EXPECT_EQ(html_text("a<b> & </pre>"), "a&lt;b&gt; &amp; &lt;/pre&gt;");
}

TEST(PolicyHash, IsSha256InBase64) {
  // printf abc | openssl dgst -sha256 -binary | base64
  EXPECT_EQ(policy_hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
}

}  // namespace
}  // namespace npu::reports
