// SPDX-License-Identifier: Apache-2.0
// The report of a test has the machine's counters and the test's own figures.
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TestReport : public OpenedCard {
 protected:
  std::string report() { return machine().report("TestReport.it"); }
  static std::string metric_text(const std::string& name, const std::string& value,
                                 const std::string& unit) {
    return "\"name\": \"" + name + "\", \"value\": " + value + ", \"unit\": \"" + unit + "\"";
  }
};

TEST_F(TestReport, HasTheTestsOwnFigures) {
  metric("copy.latency_ns", 1234567_ps);
  metric("copy.retries", 3);
  metric("copy.rate", 12.5, "GB/s");
  EXPECT_THAT(report(), AllOf(HasSubstr(metric_text("copy.latency_ns", "1234.567", "ns")),
                              HasSubstr(metric_text("copy.retries", "3", "")),
                              HasSubstr(metric_text("copy.rate", "12.500", "GB/s")),
                              HasSubstr("\"workload\": \"TestReport.it\""),
                              HasSubstr("\"outcome\": \"complete\"")));
}

TEST_F(TestReport, HasWhatACallDid) {
  metric("submit", accesses([&] { submit(to_card(64)); }));
  EXPECT_THAT(report(), AllOf(HasSubstr(metric_text("submit.accesses.mmio_reads", "0", "")),
                              HasSubstr(metric_text("submit.accesses.mmio_writes", "1", "")),
                              HasSubstr("submit.time_ns")));
}

TEST_F(TestReport, HasTheMachinesCountersUpToNow) {
  EXPECT_THAT(copy(to_card(64)), Succeeds());
  EXPECT_THAT(report(), AllOf(HasSubstr(metric_text("host.submissions", "1", "")),
                              HasSubstr("\"simulated_ps\": " +
                                        std::to_string(now().since_power_up().count()))));
}

TEST_F(TestReport, TakesNoTime) {
  const auto before = now();
  report();
  EXPECT_EQ(now(), before);
}

TEST_F(TestReport, RefusesNamesThatNobodyCouldCompare) {
  const auto add = [&](const std::string& name, const std::string& unit, unsigned decimals = 0) {
    return machine().add_metric(name, 1, decimals, unit);
  };
  EXPECT_THAT(add("a b", ""), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(add("", ""), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(add("a", "a unit"), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(add("a", "", 10), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(add("test.mine", ""), FailsWith(ErrorCode::kAlreadyExists));
  EXPECT_THAT(add("a", "ns"), Succeeds());
  EXPECT_THAT(add("a", "ns"), FailsWith(ErrorCode::kAlreadyExists));
}

}  // namespace
}  // namespace npu::regression
