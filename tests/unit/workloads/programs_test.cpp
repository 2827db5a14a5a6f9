// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"
#include "tests/unit/workloads/fake_run.hpp"

namespace npu::workloads {
namespace {

using test::IsOk;
using testing::HasSubstr;

TEST(AllWorkloads, AreThoseThatAreDeclared) {
  std::ifstream header(source_dir() + "/workloads/programs/programs.hpp");
  std::size_t declared = 0;
  for (std::string line; std::getline(header, line);) {
    if (line.rfind("Workload ", 0) == 0) ++declared;
  }
  EXPECT_GE(declared, 39U);
  EXPECT_EQ(all_workloads().all().size(), declared);
}

TEST(AllWorkloads, HaveADocAndDefaultsInTheirRanges) {
  for (const auto& workload : all_workloads().all()) {
    EXPECT_FALSE(workload.doc.empty()) << workload.name;
    const ParameterSet parameters(workload.parameters);
    EXPECT_EQ(parameters.texts().size(), workload.parameters.size());
    for (const auto& spec : workload.parameters) EXPECT_FALSE(spec.doc.empty()) << spec.name;
  }
}

TEST_F(WorkloadOnFake, EnumerateReportsTheCard) {
  ASSERT_THAT(run("enumerate"), IsOk());
  EXPECT_EQ(metric("enumerate.cards"), "1");
  EXPECT_EQ(metric("enumerate.card0.ai_cores"), "64");
  EXPECT_EQ(metric("enumerate.card0.hbm_bytes"), std::to_string(56_GiB));
}

TEST_F(WorkloadOnFake, FirstTensorStagesAddUpToTheirTotal) {
  ASSERT_THAT(run("first_tensor", {"rows=64", "columns=64"}), IsOk());
  std::int64_t sum = 0;
  for (const auto& m : report_.metrics()) {
    if (m.name != "first_tensor.total_us") sum += m.value.value();
  }
  EXPECT_GT(sum, 0);
  EXPECT_EQ(sum, report_.find("first_tensor.total_us")->value.value());
}

TEST_F(WorkloadOnFake, FirstTensorNoticesWrongData) {
  corrupt_source(1);
  const auto status = run("first_tensor", {"rows=64", "columns=64"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, HasSubstr("the tensor read back: byte 0 of 16384"));
}

TEST_F(WorkloadOnFake, Bar0TrapRefusesBar0AndServes256Streams) {
  ASSERT_THAT(run("bar0_trap"), IsOk());
  EXPECT_EQ(metric("bar0_trap.bar0_refused"), "1");
  EXPECT_EQ(metric("bar0_trap.streams"), "256");
  EXPECT_THAT(report_.notes().at(0), HasSubstr("BAR0"));
}

TEST_F(WorkloadOnFake, DmaLatencyWithoutEventsIsAnErrorThatNamesTheCommand) {
  const auto status = run("dma_latency", {"sizes=64"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, HasSubstr("command 0 of card 0"));
}

TEST_F(WorkloadOnFake, DmaBandwidthReportsEveryShapeAndTheBest) {
  ASSERT_THAT(run("dma_bandwidth", {"sizes=64KiB", "bytes=256KiB", "depths=1,4", "streams=1,2"}),
              IsOk());
  EXPECT_NE(report_.find("dma.d2h.64KiB.depth4.streams2.bandwidth_gb_per_s"), nullptr);
  // Two streams copy at the same time, 2 us each.
  EXPECT_EQ(metric("dma.h2d.64KiB.best_streams"), "2");
}

TEST_F(WorkloadOnFake, DmaBandwidthNoticesWrongData) {
  corrupt_source(1);
  const auto status =
      run("dma_bandwidth", {"sizes=4KiB", "bytes=4KiB", "directions=d2d", "streams=1"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, HasSubstr("d2d copies of 4KiB, depth 1, 1 streams: byte 0"));
}

TEST_F(WorkloadOnFake, P2pBandwidthNeedsASecondCard) {
  const auto status = run("p2p_bandwidth", {"sizes=64KiB"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, HasSubstr("cards=2: the machine has 1; system-2x910b2 "));
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument) << "a parameter does not fit";
}

TEST_F(WorkloadOnFake, P2pBandwidthComparesWhatItCopied) {
  add_peers();
  ASSERT_THAT(run("p2p_bandwidth", {"sizes=64KiB", "bytes=256KiB"}), IsOk());
  EXPECT_EQ(metric("p2p_bandwidth.bytes_compared"), std::to_string(2 * 3 * 256_KiB));
  EXPECT_NE(report_.find("p2p_bandwidth.both_ways.read.64KiB.bandwidth_gb_per_s"), nullptr);
}

TEST_F(WorkloadOnFake, P2pBandwidthNoticesWrongData) {
  add_peers();
  corrupt_source(1);
  const auto status = run("p2p_bandwidth", {"sizes=64KiB", "patterns=one_way"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, HasSubstr("card 0 to card 1: byte 0 of 65536"));
}

TEST_F(WorkloadOnFake, RingPressureMeetsTheFullRingAndLosesNothing) {
  ASSERT_THAT(run("ring_pressure", {"commands=20000"}), IsOk());
  EXPECT_EQ(metric("ring_pressure.commands"), "20000");
  EXPECT_EQ(metric("ring_pressure.ring_wraps"), "4");
  EXPECT_GT(report_.find("ring_pressure.ring_full")->value.value(), 0);
  // The log is read back by one more command.
  EXPECT_EQ(card_.executed().size(), 20'001U);
}

TEST_F(WorkloadOnFake, RingPressureNoticesAWrongTag) {
  corrupt_source(100);  // the second half of the 50th pair
  const auto status = run("ring_pressure", {"commands=200", "streams=1"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, HasSubstr("the log of tags: byte 392 of 800"));
}

TEST_F(WorkloadOnFake, SoakAnswersEveryCommand) {
  ASSERT_THAT(run("soak", {"commands=20000", "faults=0"}), IsOk());
  EXPECT_GE(report_.find("soak.commands")->value.value(), 20000);
  EXPECT_EQ(metric("soak.completed"), metric("soak.commands"));
  EXPECT_EQ(metric("soak.wrong"), "0");
}

TEST_F(WorkloadOnFake, SoakNoticesAWrongTag) {
  corrupt_source(100);
  EXPECT_THAT(run("soak", {"commands=1000", "faults=0"}),
              test::FailsWith(ErrorCode::kWrongData, "0 were lost; 1 chains left wrong data"));
}

TEST_F(WorkloadOnFake, SoakHasFaultsOnlyWhereThereAreSome) {
  EXPECT_THAT(run("soak"), test::FailsWith(ErrorCode::kInvalidArgument, "cannot have faults"));
  EXPECT_THAT(run("soak", {"faults=0", "cell=12"}),
              test::FailsWith(ErrorCode::kInvalidArgument, "cell=12: not a multiple of 8"));
}

TEST_F(WorkloadOnFake, VmmMapNoticesWrongData) {
  corrupt_source(1);
  const auto status = run("vmm_map", {"sizes=2MiB"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kWrongData);
  EXPECT_THAT(status.error().context, HasSubstr("page 0 of block"));
}

TEST_F(WorkloadOnFake, EventWaitComparesThePolicies) {
  ASSERT_THAT(run("event_wait", {"targets=5", "streams=1", "iterations=3"}), IsOk());
  EXPECT_NE(report_.find("event_wait.adaptive.5us.latency_ns"), nullptr);
  EXPECT_EQ(metric("event_wait.polling.5us.cpu_percent"), "100.000");
  EXPECT_EQ(metric("event_wait.polling.5us.context_switches_per_wait"), "0.000");
  EXPECT_EQ(metric("event_wait.interrupt.5us.context_switches_per_wait"), "1.000");
}

TEST_F(WorkloadOnFake, CardLossIsRefusedByItsLinkWhereNobodyCanTakeThatDown) {
  EXPECT_THAT(run("card_loss", {"by=link"}),
              test::FailsWith(ErrorCode::kInvalidArgument, "cannot take a link down"));
}

TEST_F(WorkloadOnFake, FaultsAreRefusedWhereThereAreNone) {
  EXPECT_THAT(run("faults"), test::FailsWith(ErrorCode::kInvalidArgument, "cannot have faults"));
}

TEST_F(WorkloadOnFake, AllocChurnEndsWithAllMemoryFree) {
  ASSERT_THAT(run("alloc_churn", {"steps=2000"}), IsOk());
  EXPECT_GT(report_.find("alloc_churn.peak_used_bytes")->value.value(),
            static_cast<std::int64_t>(40_GiB));
  EXPECT_EQ(report_.tables().at(0).rows.size(), 10U);
}

TEST_F(WorkloadOnFake, AllocChurnNoticesAStrayWrite) {
  corrupt_source(50);
  const auto status = run("alloc_churn", {"steps=500", "memory=on"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, HasSubstr("of the block at "));
}

TEST_F(WorkloadOnFake, TheSameSeedGivesTheSameMetrics) {
  ASSERT_THAT(run("alloc_churn", {"steps=500"}), IsOk());
  const auto first = report_.metrics();
  report_ = Report();
  ASSERT_THAT(run("alloc_churn", {"steps=500"}), IsOk());
  ASSERT_EQ(first.size(), report_.metrics().size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].value.text(), report_.metrics()[i].value.text()) << first[i].name;
  }
}

}  // namespace
}  // namespace npu::workloads
