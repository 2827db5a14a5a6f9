// SPDX-License-Identifier: Apache-2.0
// Compute queues on the simulated 910B: 16 hardware slots.
#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using QueuePrograms = WorkloadOnSimulator;

TEST_F(QueuePrograms, SubmittingIsOneDoorbellAndNoManagerCall) {
  run("queue_latency", {"kinds=nop,d2d", "iterations=20"});
  // With the entry that loads the queue, 21 of each kind; making and destroying a queue is all
  // that the manager is called for: create and destroy.
  EXPECT_EQ(value("queue.nop.doorbells_per_entry"), 1);
  EXPECT_EQ(value("queue.nop.entry_writes_per_entry"), 0);
  EXPECT_EQ(value("queue.d2d.mmio_reads_per_entry"), 0);
  EXPECT_EQ(value("queue.manager_calls_per_queue"), 2);
}

TEST_F(QueuePrograms, ARingInDeviceMemoryCostsTheEntrysWriteAndSavesItsFetch) {
  run("queue_latency", {"kinds=nop", "queue_memory=device"});
  EXPECT_EQ(value("queue.nop.entry_writes_per_entry"), 1);
  EXPECT_EQ(value("queue.nop.mmio_reads_per_entry"), 0);
  // A read over the link takes the link's way twice; one of HBM does not.
  EXPECT_LT(value("queue.nop.breakdown.fetch_ns"), 150);
}

TEST_F(QueuePrograms, ThePartsOfALatencyComeFromTheConfiguration) {
  run("queue_latency", {"kinds=nop"}, {"command.doorbell_decode_ns=77", "command.decode_ns=33"});
  EXPECT_EQ(digits("queue.nop.breakdown.doorbell_decode_ns"), 77'000);
  EXPECT_EQ(digits("queue.nop.breakdown.decode_ns"), 33'000);
  EXPECT_EQ(digits("queue.nop.breakdown.map_ns"), 0);  // it is in its slot
  EXPECT_GT(digits("queue.nop.first.breakdown.map_ns"), 0);
}

TEST_F(QueuePrograms, SixtyFiveQueuesOnSixteenSlotsAllGetTheirTurn) {
  run("queue_oversubscription");
  EXPECT_EQ(digits("queue_oversubscription.completed"), 6500);
  EXPECT_GT(digits("queue_oversubscription.maps"), 65);
  EXPECT_GT(digits("queue_oversubscription.preemptions"), 0);
  // Four more turns may pass before its own comes again, each of a quantum of 20 us, the rest of
  // an entry (9 us: 10,000 cycles and a launch) and the loading of a queue (1 us).
  EXPECT_LT(value("queue_oversubscription.longest_gap_us"), 5 * (20 + 9 + 1));
}

TEST_F(QueuePrograms, ThreeProcessesOfThirteenQueuesLoopWithoutATimeOut) {
  run("queue_oversubscription", {"processes=3", "queues=39", "loops=40", "entries=10"});
  EXPECT_EQ(digits("queue_oversubscription.completed"), 39 * 40 * 10);
}

// A queue's last entry, a copy, overtakes the kernels before it.
TEST_F(QueuePrograms, AFewEntriesAreWaitedForToo) {
  run("queue_oversubscription", {"queues=5", "entries=4"});
  EXPECT_EQ(digits("queue_oversubscription.submitted"), 20);
  EXPECT_EQ(digits("queue_oversubscription.completed"), 20);
  // Kernels of 10,000 cycles of 540 ps.
  EXPECT_GT(value("queue_oversubscription.first_done_us"), 5.4);
  EXPECT_GE(value("queue_oversubscription.elapsed_us"),
            value("queue_oversubscription.first_done_us"));
}

// 27 s of kernels: longer than the timeout for anything short.
TEST_F(QueuePrograms, KernelsThatTakeLongAreNoFault) {
  run("queue_oversubscription", {"queues=1", "entries=2", "loops=50", "spin_cycles=1000000000"});
  EXPECT_EQ(digits("queue_oversubscription.completed"), 100);
  EXPECT_GT(value("queue_oversubscription.elapsed_us"), 20e6);
}

TEST_F(QueuePrograms, AThousandQueuesWorkAtOnce) {
  run("queue_scaling", {"queues=16,1024"});
  // Slots are shared, nothing is lost by it: the rate stays within a tenth.
  EXPECT_GT(value("queue_scaling.1024.entries_per_s"),
            0.9 * value("queue_scaling.16.entries_per_s"));
}

TEST_F(QueuePrograms, AttemptsAgainstNeighboursEndInTheirFault) {
  run("queue_isolation");
  EXPECT_EQ(digits("queue_isolation.attempts"), 12);
  EXPECT_EQ(digits("queue_isolation.neighbour_completions"), 400);
}

TEST_F(QueuePrograms, KernelsHideBehindCopiesOverTheLink) {
  run("stream_overlap", {"rounds=4", "size=1MiB"});
  EXPECT_GT(value("stream_overlap.hidden_percent"), 90);
  EXPECT_GT(value("stream_overlap.kernels_us"), 0);
}

}  // namespace
}  // namespace npu::workloads
