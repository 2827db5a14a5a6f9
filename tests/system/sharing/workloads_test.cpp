// SPDX-License-Identifier: Apache-2.0
// The workloads of quotas and changed shares.
#include "tests/support/matchers.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

class ShareUpdate : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ShareUpdate, AChangedShareHoldsWithinTwoWindows) {
  Machine machine;
  const auto report = machine.workload("share_update", {std::string("from=") + GetParam().first,
                                                        std::string("to=") + GetParam().second});
  EXPECT_LE(metric(report, "share_update.converged_windows"), 2);
  EXPECT_LE(metric(report, "share_update.latency_us"), 2001);
}
INSTANTIATE_TEST_SUITE_P(Quotas, ShareUpdate,
                         testing::Values(std::pair("30", "60"), std::pair("60", "30")));

class ShareQuota : public testing::TestWithParam<const char*> {};

TEST_P(ShareQuota, EveryWayToMemoryCounts) {
  Machine machine;
  const auto report =
      machine.workload("share_quota", {"quotas=64MiB,96MiB", std::string("policy=") + GetParam()});
  EXPECT_EQ(metric(report, "share_quota.c0.quota_bytes"), 64 * 1024 * 1024);
  // 2 MiB of the process, blocks of 4 MiB by allocations and by handles, until no more go; one is
  // given back, so that there is room for three of the four managed pages.
  EXPECT_EQ(metric(report, "share_quota.c0.allocated_bytes"), 58 * 1024 * 1024);
  EXPECT_EQ(metric(report, "share_quota.c0.managed_bytes"), 6 * 1024 * 1024);
  EXPECT_EQ(metric(report, "share_quota.c1.allocated_bytes"), 90 * 1024 * 1024);
  EXPECT_EQ(metric(report, "share_quota.c1.managed_bytes"), 6 * 1024 * 1024);
  EXPECT_EQ(metric(report, "share_quota.c0.refused"), 1);
}
INSTANTIATE_TEST_SUITE_P(Policies, ShareQuota, testing::Values("message", "batch"));

struct Impossible {
  const char* quotas;
  const char* block;
  const char* why;
};
class ShareQuotaOf : public testing::TestWithParam<Impossible> {};

TEST_P(ShareQuotaOf, ImpossibleSizesIsRefusedInOneLine) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    const auto& workload = **workloads::all_workloads().find("share_quota");
    workloads::ParameterSet parameters(workload.parameters);
    ASSERT_TRUE(parameters.assign(std::string("quotas=") + GetParam().quotas));
    ASSERT_TRUE(parameters.assign(std::string("block=") + GetParam().block));
    reports::Report report;
    workloads::Context context{host, parameters, 1, report, machine.view, machine.view, {}};
    const auto status = workload.run(context);
    EXPECT_THAT(status, FailsWith(ErrorCode::kInvalidArgument, GetParam().why));
  });
}
INSTANTIATE_TEST_SUITE_P(
    Sizes, ShareQuotaOf,
    testing::Values(Impossible{"100GiB", "4MiB", "more than the"},
                    Impossible{"40GiB,40GiB", "4MiB", "more than the"},
                    Impossible{"64MiB", "1GiB", "block=1024 MiB is more than the quota of 64 MiB"},
                    Impossible{"64MiB", "3MiB", "no whole pages of 2 MiB"}));

TEST(ShareOversubscribe, WhoHasNoRoomPaysAndNobodyElse) {
  Machine machine;
  const auto report = machine.workload("share_oversubscribe", {"quotas=50,100"});
  EXPECT_GT(metric(report, "share_oversubscribe.c0.evictions"), 20);
  EXPECT_EQ(metric(report, "share_oversubscribe.c1.evictions"), 0);
  EXPECT_GT(metric(report, "share_oversubscribe.c0.slowdown"), 1.2);
}

}  // namespace
}  // namespace npu::test
