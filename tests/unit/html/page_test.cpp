// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/html/page.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "tools/reports/html/escape.hpp"
#include "tools/reports/html/page_assets.hpp"

namespace npu::reports {
namespace {

std::size_t count_of(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1))
    ++count;
  return count;
}

std::string policy_of(const std::string& page) {
  std::smatch found;
  const std::regex pattern("<meta http-equiv=\"Content-Security-Policy\" content=\"([^\"]*)\">");
  return std::regex_search(page, found, pattern) ? found[1].str() : "";
}

TEST(HtmlPage, HoldsTheReportOnce) {
  const std::string page = html_page(R"({"workload": "dma_latency", "seed": 1})");
  EXPECT_EQ(count_of(page, R"({"workload": "dma_latency", "seed": 1})"), 1U);
  EXPECT_NE(page.find("<body data-page=\"report\">"), std::string::npos);
}

TEST(HtmlPage, ASweepHasAPageOfItsOwn) {
  EXPECT_NE(sweep_page("{}").find("<body data-page=\"sweep\">"), std::string::npos);
}

TEST(HtmlPage, HasAsManyScriptsWhateverTheReportSays) {
  const std::string page = html_page(R"(["</script><script>alert(1)</script><style>"])");
  EXPECT_EQ(count_of(page, "<script"), count_of(html_page("[]"), "<script"));
  EXPECT_EQ(count_of(page, "</script"), 3U);
  EXPECT_EQ(count_of(page, "<style"), 1U);
}

TEST(HtmlPage, PolicyAllowsItsOwnScriptsAndStyleAlone) {
  const PageAssets assets = page_assets();
  EXPECT_EQ(policy_of(html_page("{}")),
            "default-src 'none'; script-src " + policy_hash(assets.plots) + " " +
                policy_hash(assets.script) + "; style-src " + policy_hash(assets.style) +
                "; img-src data:; base-uri 'none'; form-action 'none'");
}

TEST(HtmlPage, NothingEmbeddedEndsItsElement) {
  const PageAssets assets = page_assets();
  for (const auto part : {assets.script, assets.plots, assets.style}) {
    EXPECT_EQ(part.find("</script"), std::string_view::npos);
    EXPECT_EQ(part.find("<!--"), std::string_view::npos);
    EXPECT_EQ(part.find("</style"), std::string_view::npos);
    EXPECT_EQ(part.find('\r'), std::string_view::npos);  // a browser reads, and digests, another
  }
}

TEST(HtmlPage, NamesTheLicenceOfThePlotLibrary) {
  const std::string page = html_page("{}");
  EXPECT_NE(page.find("Chart.js Contributors"), std::string::npos);
  EXPECT_NE(page.find("Permission is hereby granted, free of charge"), std::string::npos);
}

}  // namespace
}  // namespace npu::reports
