// SPDX-License-Identifier: Apache-2.0
// Reports tell that the DRAM was computed in closed form, and what error that has.
#include "tools/reports/trust/fidelity.hpp"

#include <gmock/gmock.h>

#include "tools/reports/report_markdown.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

Report report_of(const std::string& workload, const std::string& fidelity) {
  Report report;
  report.workload = workload;
  report.configuration.push_back({"cards.0.hbm.fidelity", {"exact"}, true});
  report.configuration.push_back({"cards.1.hbm.fidelity", {fidelity}, true});
  return report;
}

const std::vector<FidelityError> kErrors{{"910b2", "matmul", 0.5}, {"950pr", "matmul", 1.25}};

TEST(Fidelity, TheLargestErrorOfTheWorkloadIsTold) {
  EXPECT_THAT(fidelity_line(report_of("matmul", "run"), kErrors), HasSubstr("within 1.25 %"));
}

TEST(Fidelity, AWorkloadThatWasNeverComparedSaysSo) {
  EXPECT_THAT(fidelity_line(report_of("graph", "run"), kErrors), HasSubstr("no comparison"));
}

TEST(Fidelity, OfExactRunsNothingIsSaid) {
  EXPECT_EQ(fidelity_line(report_of("matmul", "exact"), kErrors), "");
  EXPECT_THAT(to_text(report_of("matmul", "exact")), Not(HasSubstr("fidelity")));
}

TEST(Fidelity, StandsInTheFirstLines) {
  const auto text = to_text(report_of("matmul", "run"));
  EXPECT_LT(text.find("hbm.fidelity: run"), 200U) << text;
  EXPECT_THAT(to_markdown(report_of("matmul", "run")), HasSubstr("hbm.fidelity: run"));
}

}  // namespace
}  // namespace npu::reports
