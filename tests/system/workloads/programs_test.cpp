// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using Programs = WorkloadOnSimulator;

TEST_F(Programs, Bar0TrapServes256StreamsInBar2) {
  run("bar0_trap");
  EXPECT_EQ(digits("bar0_trap.bar0_refused"), 1);
  EXPECT_EQ(digits("bar0_trap.streams"), 256);
}

TEST_F(Programs, EnumerateFindsThe910b) {
  run("enumerate");
  EXPECT_EQ(digits("enumerate.cards"), 1);
  EXPECT_EQ(digits("enumerate.card0.device_id"), 0xD110);
  EXPECT_EQ(digits("enumerate.card0.ai_cores"), 64);
  EXPECT_EQ(digits("enumerate.card0.bar0_bytes"), 32 * 1024);
  EXPECT_EQ(digits("enumerate.card0.bar2_bytes"), static_cast<std::int64_t>(64_GiB));
}

TEST_F(Programs, EnumerateFindsTheSameWhenItReadsEverything) {
  run("enumerate", {"exhaustive=on"});
  EXPECT_EQ(digits("enumerate.cards"), 1);
  EXPECT_GT(digits("enumerate.config_reads"), 256 * 32 * 8);
}

TEST_F(Programs, FirstTensorCopiesAtTheSpeedOfTheLink) {
  run("first_tensor");
  // 4 MiB at 31.508 GB/s take 133.1 us; the link reaches between 85 % and 100 % of that.
  EXPECT_GT(value("first_tensor.copy_in_us"), 133.1);
  EXPECT_LT(value("first_tensor.copy_in_us"), 133.1 / 0.85);
}

TEST_F(Programs, CardLossOfTheLinkIsAnErrorAndTheCardWorksAgain) {
  run("card_loss", {"by=link"});
  EXPECT_EQ(digits("card_loss.copies"), 64);
  EXPECT_THAT(report_.notes().at(0), testing::HasSubstr("device lost"));
}

TEST_F(Programs, CardLossForGoodIsACardThatCannotBeOpened) {
  run("card_loss", {"by=link", "ending=removal", "copies=1"});
  EXPECT_THAT(report_.notes().at(0), testing::HasSubstr("opening it again: \""));
}

TEST_F(Programs, FaultsAreToldOrHarmlessAndRecoveryIsMeasured) {
  run("faults", {"instants=3"});
  EXPECT_EQ(digits("faults.link_down.errors"), 3);
  EXPECT_EQ(digits("faults.link_down.reopened"), 3);
  // The card is opened again, at the earliest one wait after the first error.
  EXPECT_GT(value("faults.link_down.recovery_min_us"), 1000);
  EXPECT_EQ(digits("faults.duplicated_interrupt.errors"), 0);
  EXPECT_EQ(digits("faults.spurious_interrupt.errors"), 0);
  EXPECT_EQ(digits("faults.function_level_reset.errors"), 3);
  EXPECT_EQ(digits("faults.bad_tlp.errors"), 0);
  EXPECT_EQ(digits("faults.link_retrained.errors"), 0);
  EXPECT_EQ(digits("faults.stuck_engine.errors"), 0);
  EXPECT_EQ(digits("faults.unexpected_completion.errors"), 0);
  EXPECT_EQ(digits("faults.link_error.errors"), 0);
  EXPECT_EQ(digits("faults.poisoned_write.errors"), 3);
  EXPECT_EQ(digits("faults.dropped_tlp.errors"), 3);
  EXPECT_GT(value("faults.scrub_us"), 1);
}

TEST_F(Programs, QueueLatencyTakesTimestampsOfTheCard) {
  run("queue_latency", {"kinds=nop,timestamp", "iterations=2"});
  EXPECT_GT(digits("queue.timestamp.latency_ns"), 0);
}

TEST_F(Programs, AllocChurnKeepsTagsInDeviceMemory) {
  run("alloc_churn", {"steps=1000", "memory=on"});
  EXPECT_GT(digits("alloc_churn.allocations"), 500);
}

TEST_F(Programs, HbmReplayStandsBesideTheReferenceFigures) {
  run("hbm_replay", {"outstanding=1,256", "writes=0"});
  EXPECT_EQ(digits("hbm_replay.ramulator.seq_rd.1.reference_latency_ns"), 26'000);
  EXPECT_NEAR(value("hbm_replay.ramulator.seq_rd.1.latency_ns"), 26.0, 0.26);
  EXPECT_NEAR(value("hbm_replay.dramsys.stride4k.1.bandwidth_error_percent"), 0, 1);
  EXPECT_GT(value("hbm_replay.dramsim3.rand_rd.256.bandwidth_fraction"), 0.1);
  EXPECT_EQ(report_.find("hbm_replay.dramsys.rand_rd.256.reference_latency_ns"), nullptr);
}

TEST_F(Programs, HbmReplayTakesTheCardsOwnMemoryAndMixedTraffic) {
  run("hbm_replay", {"tools=card", "patterns=rand_rd", "requests=5000", "reads=2", "writes=1"});
  EXPECT_GT(value("hbm_replay.card.rand_rd2wr1.sat.bandwidth_fraction"), 0.1);
  EXPECT_GT(value("hbm_replay.card.rand_rd2wr1.sat.read_latency_ns"), 20);
}

TEST_F(Programs, HbmReplayPassesTheTimeItReplays) {
  run("hbm_replay", {"tools=card", "patterns=seq_rd", "outstanding=1", "requests=1000"});
  EXPECT_GE(report_.simulated.count(), 1000 * digits("hbm_replay.card.seq_rd.1.latency_ns"));
}

// Per channel only the timings bind random reads; behind one queue that queue does, too.
TEST_F(Programs, HbmReplayWithAQueuePerChannelShowsTheTimings) {
  const std::string fraction = "hbm_replay.card.rand_rd.sat.bandwidth_fraction";
  run("hbm_replay", {"tools=card", "patterns=rand_rd,seq_rd", "outstanding=0", "requests=50000",
                     "queues=per_channel"});
  const double own = value(fraction);
  EXPECT_GT(value("hbm_replay.card.seq_rd.sat.bandwidth_fraction"), 0.9) << "every bus is busy";
  EXPECT_GT(own, 0.25);
}

TEST_F(Programs, HbmReplaySaysThatOneQueueFeedsAllChannels) {
  run("hbm_replay", {"tools=card", "patterns=rand_rd", "outstanding=0", "requests=50000"});
  EXPECT_LT(value("hbm_replay.card.rand_rd.sat.bandwidth_fraction"), 0.25);
  EXPECT_NE(report_.notes().back().find("queues=per_channel"), std::string::npos);
}

TEST_F(Programs, HbmReplayTakesOtherTimingsForTheCardsMemory) {
  run("hbm_replay",
      {"tools=card", "timings=hbm2e_3200", "patterns=seq_rd", "outstanding=1", "requests=100"});
  EXPECT_EQ(report_.tables().front().title, "card on hbm2e_3200");  // 910b.yaml has hbm2e_2400
}

TEST_F(Programs, HbmReplayPerChannelWantsRequestsOfOneChannel) {
  const auto status = attempt("hbm_replay", {"tools=ramulator", "queues=per_channel",
                                             "request_bytes=4KiB", "requests=100"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace npu::workloads
