// SPDX-License-Identifier: Apache-2.0
// docs/reports.md says what there is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tools/reports/compare/comparison_text.hpp"
#include "tools/reports/compare/thresholds.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::reports {
namespace {

std::string page() {
  return file_text(source_dir() + "/docs/reports.md");
}

std::string row_of(const Rule& rule) {
  const std::string worse = rule.worse == Worse::kUp                ? "up"
                            : rule.worse == Worse::kUpFewerIsNoGain ? "up; fewer: look"
                            : rule.worse == Worse::kDown            ? "down"
                                                                    : "never";
  return std::string("| ") + (rule.counter ? "counter" : "metric") + " | `" +
         std::string(rule.pattern) + "` | " + (rule.unit == "*" ? "any" : std::string(rule.unit)) +
         " | " + worse + " | " + allowed_text({rule.worse, rule.tolerance}) + " |\n";
}

TEST(ReportPage, NamesEverySection) {
  const std::string text = page();
  const auto report = nlohmann::json::parse(to_json(Report{}));
  for (const auto& [name, value] : report.items()) {
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
  }
}

TEST(ReportPage, HasTheRulesOfCompare) {
  std::string rows;
  for (const auto& rule : default_rules()) rows += row_of(rule);
  EXPECT_NE(page().find("|---|---|---|---|---|\n" + rows + "| any |"), std::string::npos) << rows;
}

}  // namespace
}  // namespace npu::reports
