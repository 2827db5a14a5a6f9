// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/validation.hpp"

#include <gtest/gtest.h>

namespace npu::validate {
namespace {

class ValidationTest : public testing::Test {
 protected:
  // Without a setting, every row is a run of its own.
  void compare(double measured, double predicted, const std::string& op = "gelu",
               const std::string& setting = "") {
    auto& row = rows_.emplace_back();
    row.id = "row-" + std::to_string(rows_.size());
    row.sku = "950PR (950PR_9589)";
    row.op = op;
    row.value = measured;
    row.unit = "us";
    auto& pair = pairs_.emplace_back();
    pair.predicted = predicted;
    pair.operation.settings.emplace_back("setting", setting.empty() ? row.id : setting);
  }
  reports::Report report() {
    Validation validation;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      pairs_[i].row = &rows_[i];
      validation.add(pairs_[i]);
    }
    validation.skip(skipped_, "no such operator");
    reports::Report report;
    validation.report(report);
    return report;
  }
  static std::string value(const reports::Report& report, const std::string& name) {
    const auto* const metric = report.find(name);
    return metric == nullptr ? "absent" : metric->value.text();
  }

 private:
  std::vector<Measurement> rows_;
  std::vector<Compared> pairs_;
  Measurement skipped_;
};

TEST_F(ValidationTest, ErrorsAreOfThePublishedValue) {
  compare(10, 15);  // +50
  compare(10, 9);   // -10
  compare(20, 19);  // -5
  compare(20, 26, "mish");
  const auto found = report();
  EXPECT_EQ(value(found, "validate.rows_run"), "4");
  EXPECT_EQ(value(found, "validate.rows_skipped"), "1");
  EXPECT_EQ(value(found, "validate.mape_percent"), "23.750");
  EXPECT_EQ(value(found, "validate.median_percent"), "20.000");
  EXPECT_EQ(value(found, "validate.bias_percent"), "16.250");
  EXPECT_EQ(value(found, "validate.950PR__950PR_9589_.gelu.rows"), "3");
  EXPECT_EQ(value(found, "validate.950PR__950PR_9589_.gelu.mape_percent"), "21.667");
  EXPECT_EQ(value(found, "validate.950PR__950PR_9589_.gelu.median_percent"), "10.000");
  EXPECT_EQ(value(found, "validate.950PR__950PR_9589_.mish.bias_percent"), "30.000");
}

TEST_F(ValidationTest, TheFarthestRowIsFirst) {
  compare(10, 11);
  compare(10, 5);
  compare(10, 12);
  const auto found = report();
  const auto& rows = found.tables().front().rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0][0], "row-2");
  EXPECT_EQ(rows[1][0], "row-3");
  EXPECT_EQ(rows[2][0], "row-1");
}

TEST_F(ValidationTest, OfTwoStepsTheQuickerOneIsNamed) {
  compare(100, 90);
  compare(80, 70);  // quicker in both
  compare(5, 6, "mish");
  compare(60, 75);    // quicker only measured
  compare(60.5, 50);  // 0.8 % apart: noise
  compare(4, 7, "mish");
  const auto found = report();
  EXPECT_EQ(value(found, "validate.steps"), "3");
  EXPECT_EQ(value(found, "validate.steps_right_percent"), "33.333");
}

TEST_F(ValidationTest, StepsThatAreOneRunAreCountedApart) {
  compare(100, 90, "gelu", "m=1");
  compare(80, 90, "gelu", "m=1");
  compare(70, 60, "gelu", "m=2");
  const auto found = report();
  EXPECT_EQ(value(found, "validate.steps"), "2");
  EXPECT_EQ(value(found, "validate.steps_same_run"), "1");
  EXPECT_EQ(value(found, "validate.steps_right_percent"), "100.000");
}

TEST_F(ValidationTest, RowsThatWereNotRunAreListedWithTheReason) {
  const auto found = report();
  ASSERT_EQ(found.tables().back().title, "not run");
  EXPECT_EQ(found.tables().back().rows.front().back(), "no such operator");
  EXPECT_EQ(value(found, "validate.mape_percent"), "0.000");
}

}  // namespace
}  // namespace npu::validate
