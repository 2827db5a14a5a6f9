// SPDX-License-Identifier: Apache-2.0
// A driver that does one access more per submission is a regression that names the access, also
// where no latency moves.
#include <gmock/gmock.h>

#include "npu/testing/without_barriers.hpp"
#include "tests/system/support/child_process.hpp"
#include "tests/system/support/machine.hpp"
#include "tests/system/timing/changed_platform.hpp"
#include "tools/reports/compare/comparison.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::test {
namespace {

std::string run_json(Change change) {
  // How long allocations take decides whether a refresh of the memory meets the longest copy of one
  // of the two runs: here they take nothing.
  Machine machine({"cpu.kernel.allocate_page_ns=0", "cpu.kernel.map_page_ns=0",
                   "cpu.kernel.page_table_lock_ns=0"});
  std::unique_ptr<platform::Platform> changed;
  machine.decorate = [&](platform::Platform& host) -> platform::Platform& {
    if (change == Change::kNoBarriers) {
      changed = std::make_unique<testkit::WithoutBarriers>(host);
      return *changed;
    }
    changed = std::make_unique<ChangedPlatform>(host, change);
    return *changed;
  };
  return to_json(machine.workload("dma_latency", {"sizes=64,4KiB", "directions=d2h"}));
}

reports::Report report_of(Change change) {
  return report_of_process([change] { return run_json(change); });
}

reports::Comparison comparison_with(Change change) {
  return must(compare(report_of(Change::kNone), report_of(change), {}));
}

// Null: it is no regression.
const reports::Change* regression(const reports::Comparison& comparison, const std::string& name) {
  for (const auto& each : comparison.changes) {
    if (each.name == name && each.verdict == reports::Verdict::kRegression) return &each;
  }
  return nullptr;
}

// One more of `counter` per submission; `why` is part of the reason that is given.
void expect_one_more(Change change, const std::string& counter, const std::string& why) {
  const auto comparison = comparison_with(change);
  const auto* found = regression(comparison, counter + "_per_submission");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->difference().text(), "1.000");
  EXPECT_NE(found->why.find(why), std::string::npos) << found->why;
}

TEST(DriverComparison, AReadBeforeTheDoorbellIsNamedWithItsPart) {
  const auto comparison = comparison_with(Change::kReadBeforeDoorbell);
  const auto* reads = regression(comparison, "host.mmio_reads_per_submission");
  const auto* latency = regression(comparison, "dma.d2h.64B.latency_ns");
  ASSERT_NE(reads, nullptr);
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(reads->difference().text(), "1.000");
  EXPECT_EQ(reads->why.rfind("host.mmio_reads_bar0 +", 0), 0U) << reads->why;
  EXPECT_NE(latency->why.find("host.mmio_reads_per_submission +1.000"), std::string::npos);
  EXPECT_NE(latency->why.find("doorbell +"), std::string::npos) << latency->why;
}

TEST(DriverComparison, AReadBehindTheDoorbellIsNamedAlthoughNoLatencyMoves) {
  const auto comparison = comparison_with(Change::kReadAfterDoorbell);
  EXPECT_EQ(regression(comparison, "dma.d2h.64B.latency_ns"), nullptr);
  const auto* reads = regression(comparison, "host.mmio_reads_per_submission");
  ASSERT_NE(reads, nullptr);
  EXPECT_EQ(reads->difference().text(), "1.000");
}

TEST(DriverComparison, ADoorbellMoreIsNamed) {
  expect_one_more(Change::kDoorbellTwice, "host.mmio_writes", "host.mmio_writes_bar0 +");
}
TEST(DriverComparison, AWriteBarrierMoreIsNamed) {
  expect_one_more(Change::kBarrierAfterDoorbell, "host.write_barriers", "");
}
TEST(DriverComparison, AReadBarrierThatCostsNothingIsNamed) {
  expect_one_more(Change::kReadBarrier, "host.read_barriers", "");
}
TEST(DriverComparison, APollMoreBeforeTheDoorbellIsNamed) {
  expect_one_more(Change::kPollBeforeDoorbell, "host.poll_calls", "");
}
TEST(DriverComparison, APollMoreInsteadOfAnotherIsNamed) {
  expect_one_more(Change::kPollAfterDoorbell, "host.poll_calls", "");
}

// On a host whose stores keep their order it even works, and a little faster.
TEST(DriverComparison, ADriverWithoutBarriersIsToBeLookedAtAndNotPraised) {
  const auto comparison = comparison_with(Change::kNoBarriers);
  EXPECT_EQ(comparison.regressions(), 0U);
  std::vector<std::string> names;
  for (const auto& change : comparison.changes) {
    if (change.verdict == reports::Verdict::kLook) names.push_back(change.name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "host.write_barriers", "host.write_barriers_per_submission",
                         "host.read_barriers", "host.read_barriers_per_submission"));
}

TEST(DriverComparison, TheSameDriverTwiceIsIdentical) {
  EXPECT_TRUE(comparison_with(Change::kNone).identical);
}

}  // namespace
}  // namespace npu::test
