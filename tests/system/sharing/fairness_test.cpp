// SPDX-License-Identifier: Apache-2.0
// Who gets what of the cores' time, by shares, tokens and policies, from the queue to the core.
#include "tests/support/matchers.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

double figure(const reports::Report& report, const std::string& name) {
  return metric(report, "share_fairness." + name);
}

reports::Report fairness(const std::vector<std::string>& values) {
  Machine machine;
  return machine.workload("share_fairness", values);
}

// Slowdowns within a part of the given ones.
void expect_slowdowns(const reports::Report& report, const std::vector<double>& wanted,
                      double part) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto name = "c" + std::to_string(i) + ".slowdown";
    EXPECT_NEAR(figure(report, name), wanted[i], part * wanted[i]) << name;
  }
}

TEST(ShareFairness, ThirtyAndSeventyPercent) {
  expect_slowdowns(fairness({"shares=30,70"}), {3.33, 1.43}, 0.1);
}

class ShareFairnessOfKernels : public testing::TestWithParam<const char*> {};

TEST_P(ShareFairnessOfKernels, TenTimesAsLongGetTheSameTime) {
  const auto report = fairness({"shares=30,70", std::string("cycles=") + GetParam(), "windows=20"});
  EXPECT_NEAR(figure(report, "c0.share"), 30, 3);
  EXPECT_NEAR(figure(report, "c1.share"), 70, 7);
}
INSTANTIATE_TEST_SUITE_P(Cycles, ShareFairnessOfKernels,
                         testing::Values("200000,20000", "20000,200000"));

// A window of XPUShare's length is a hundredth here, so that what a change of turns costs, which is
// as large as it is, is a small part of a sixteenth.
class ShareFairnessOf : public testing::TestWithParam<unsigned> {};

TEST_P(ShareFairnessOf, EqualClients) {
  const unsigned clients = GetParam();
  const unsigned percent = 100 / clients;
  std::string quotas;
  for (unsigned i = 0; i < clients; ++i) quotas += (i == 0 ? "" : ",") + std::to_string(percent);
  const auto report = fairness(
      {"shares=" + quotas, "windows=4", "window_us=20000", "sample_us=500", "timeout_us=10000"});
  const double each = 100.0 / percent;
  expect_slowdowns(report, std::vector<double>(clients, each), 0.1);
}
INSTANTIATE_TEST_SUITE_P(Clients, ShareFairnessOf, testing::Values(1, 2, 4, 8, 16));

class ShareFairnessAlone : public testing::TestWithParam<unsigned> {};

TEST_P(ShareFairnessAlone, AFixedShareIsNoMoreThanThat) {
  const auto report = fairness({"shares=" + std::to_string(GetParam())});
  expect_slowdowns(report, {100.0 / GetParam()}, 0.05);
}
INSTANTIATE_TEST_SUITE_P(Percent, ShareFairnessAlone, testing::Values(25, 50, 75));

// What takes longer than a time-out is the card, or the way of a message: nobody loses a turn who
// has heard of it.
class ShareFairnessWithin : public testing::TestWithParam<const char*> {};

TEST_P(ShareFairnessWithin, AShortTimeOutIsStillFair) {
  const auto report =
      fairness({"shares=30,70", "windows=6", std::string("timeout_us=") + GetParam()});
  EXPECT_NEAR(figure(report, "c0.share"), 30, 3);
  EXPECT_NEAR(figure(report, "c1.share"), 70, 7);
}
INSTANTIATE_TEST_SUITE_P(TimeOuts, ShareFairnessWithin, testing::Values("1", "3", "20"));

// Off against on: less than half a percent.
TEST(ShareFairness, OneClientWithAllOfItIsAsFastAsWithoutSharing) {
  const auto report = fairness({"shares=100", "windows=20"});
  EXPECT_NEAR(figure(report, "c0.slowdown"), 1, 0.005);
}

struct TokenCase {
  const char *token, *policy;
  double percent, off;
};
class PartitionTokens : public testing::TestWithParam<TokenCase> {};

TEST_P(PartitionTokens, AreAHardCap) {
  const auto& wanted = GetParam();
  const auto report = fairness({"shares=100", std::string("policy=") + wanted.policy, "windows=20",
                                std::string("tokens=") + wanted.token});
  EXPECT_NEAR(figure(report, "c0.share"), wanted.percent, wanted.off);
}
INSTANTIATE_TEST_SUITE_P(
    Tokens, PartitionTokens,
    testing::Values(TokenCase{"0", "fixed_share", 0, 0}, TokenCase{"32768", "fixed_share", 50, 1},
                    TokenCase{"65535", "fixed_share", 100, 2}, TokenCase{"0", "elastic", 0, 0},
                    TokenCase{"32768", "elastic", 50, 1}, TokenCase{"65535", "elastic", 100, 2}));

TEST(ShareFairness, ElasticGivesWhatNobodyWants) {
  expect_slowdowns(fairness({"shares=25", "policy=elastic"}), {1}, 0.02);
}

TEST(ShareFairness, ElasticHoldsSharesThatAreWanted) {
  expect_slowdowns(fairness({"shares=30,70", "policy=elastic"}), {3.33, 1.43}, 0.1);
}

TEST(ShareFairness, ElasticDividesTheRest) {
  const auto report = fairness({"shares=20,30", "policy=elastic"});
  EXPECT_GT(figure(report, "c0.share") + figure(report, "c1.share"), 90);
  EXPECT_GT(figure(report, "c0.share"), 25);
  EXPECT_GT(figure(report, "c1.share"), 35);
}

TEST(ShareFairness, BestEffortHoldsNobodyBack) {
  const auto report = fairness({"shares=1,1", "policy=best_effort"});
  EXPECT_LT(figure(report, "c0.slowdown"), 2.2);
  EXPECT_LT(figure(report, "c1.slowdown"), 2.2);
}

}  // namespace
}  // namespace npu::test
