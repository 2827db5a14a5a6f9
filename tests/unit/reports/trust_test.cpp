// SPDX-License-Identifier: Apache-2.0
// What a report says of how far a duration may be from silicon.
#include "tools/reports/trust/trust.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/reports/trust/kind.hpp"
#include "tools/reports/trust/known_errors.hpp"

namespace npu::reports {
namespace {

using testing::HasSubstr;

Report bounded_by_vector() {
  Report report;
  report.add_limit({"operator", "vector", Number::scaled(48702, 3), ""});
  report.add_limit({"operator", "hbm", Number::scaled(31298, 3), ""});
  report.add_limit({"operator", "l2", Number::scaled(20000, 3), ""});
  return report;
}
TimedKernel gelu_on(const std::string& sku, const std::string& operation = "gelu") {
  return {"operator.duration_us", "operator", operation, sku, 10_us};
}
nlohmann::json trust_of(const Report& report) {
  return nlohmann::json::parse(report.sections().at(0).json).at(0);
}

TEST(Trust, IsABandAndWhatTheTimeRestsOn) {
  auto report = bounded_by_vector();
  add_trust(report, gelu_on("910b2"));
  EXPECT_THAT(report.notes().at(0), HasSubstr("us on silicon with a probability of 90 %"));
  const auto trust = trust_of(report);
  EXPECT_EQ(trust.at("compared"), true);
  EXPECT_LT(trust.at("low_us"), trust.at("high_us"));
  EXPECT_EQ(trust.at("bound"), "memory") << "HBM and L2 together";
  EXPECT_EQ(trust.at("basis").size(), 3U);
  EXPECT_GT(trust.at("basis")[0].at("fitted"), 0);
  EXPECT_EQ(report.tables().at(0).rows.at(0).at(0), "vector");
}

TEST(Trust, SaysThatNoComparisonExists) {
  auto unknown = bounded_by_vector(), elsewhere = bounded_by_vector();
  add_trust(unknown, gelu_on("910b2", "gemv"));
  EXPECT_THAT(unknown.notes().at(0), HasSubstr("no comparison exists of gemv with a 910b2"));
  EXPECT_THAT(unknown.notes().at(0), HasSubstr("as other operators bound by memory do"));
  EXPECT_EQ(trust_of(unknown).at("compared"), false);
  add_trust(elsewhere, gelu_on("910b4"));
  EXPECT_THAT(elsewhere.notes().at(0), HasSubstr("nothing is known of its error"));
  EXPECT_FALSE(trust_of(elsewhere).contains("low_us"));
}

TEST(Trust, OfChangedKeysIsThatOfTheShippedOnes) {
  auto same = bounded_by_vector(), changed = bounded_by_vector();
  same.overrides.push_back({"functional=off", {"cards.0.core.functional", {"false"}}});
  changed.overrides.push_back({"l2.hit_ns=1", {"cards.0.l2.hit_ns", {"1"}}});
  add_trust(same, gelu_on("910b2"));
  add_trust(changed, gelu_on("910b2"));
  EXPECT_EQ(trust_of(same).at("keys_changed"), false);
  EXPECT_EQ(trust_of(changed).at("keys_changed"), true);
  EXPECT_THAT(changed.notes().at(0), HasSubstr("it is of the shipped ones"));
}

TEST(Trust, OfAKernelWithoutLimitsIsNone) {
  Report report;
  add_trust(report, gelu_on("910b2"));
  EXPECT_TRUE(report.sections().empty());
  EXPECT_THAT(report.notes().at(0), HasSubstr("no comparison exists"));
}

TEST(KnownErrors, HaveKindsAndUsesThatThereAre) {
  for (const auto& error : known_errors()) {
    EXPECT_THAT(error.bound, testing::AnyOf("cube", "vector", "memory", "scalar", "launch"))
        << error.id;
    EXPECT_THAT(error.use, testing::AnyOf("fit", "check", "key")) << error.id;
  }
  for (const auto& basis : known_bases()) EXPECT_NE(kind_of_limit(basis.part), "") << basis.part;
}

}  // namespace
}  // namespace npu::reports
