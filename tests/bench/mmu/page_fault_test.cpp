// SPDX-License-Identifier: Apache-2.0
// Page faults that wait to be served: records, interrupts, replies.
#include <random>
#include <set>

#include "fault_bench.hpp"

namespace npu::test {
namespace {

using abi::PageFaultConsumer;
using abi::PageFaultControl;
using abi::PageFaultRecord;
using abi::PageFaultReply;
using MmuPageFault = OnBench<PageFaultBench>;

TEST_F(MmuPageFault, ARequestWaitsForAReplyAndIsWalkedForAgain) {
  const auto begin = model::sim_now();
  const auto id = bench.issue(false, kVmid, kVirtual + 5);
  bench.run(Picoseconds(4 * kPerEntry + kFault - 1));
  EXPECT_EQ(bench.produced(), 0U);
  bench.run(2_ps);
  EXPECT_EQ(bench.produced(), 1U);
  bench.run(1_ns);
  const auto record = bench.record(1);
  EXPECT_EQ(record.address, kVirtual + 5);
  EXPECT_EQ(record.vmid, kVmid);
  EXPECT_EQ(record.write, 0);
  EXPECT_EQ(record.forbidden, 0);
  EXPECT_EQ(bench.raised, (std::vector<unsigned>{kVector}));
  bench.run(10_us);
  EXPECT_FALSE(bench.answered(id));
  EXPECT_EQ(bench.faults.waiting(), 1U);
  bench.tables.map(kVmid, kVirtual, 2 * kPage);
  const auto replied = model::sim_now();
  bench.reply(kVirtual);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  // The leaf is written, too: the page is young.
  EXPECT_EQ(bench.response(id).when - replied, 4 * kPerEntry + kWalkLatency + kMemoryLatency);
  EXPECT_EQ(bench.last_address(), 2 * kPage + 5);
  EXPECT_EQ(bench.faults.waiting(), 0U);
  EXPECT_GT(replied, begin);
  EXPECT_EQ(bench.mmu.statistics().not_mapped, 0U);
}

TEST_F(MmuPageFault, WhatIsNotServedFailsAsEver) {
  EXPECT_EQ(bench.read(kVmid + 1, kVirtual).completion, Completion::kNotMapped);
  bench.tables.set(kVmid, kVirtual + kPage, 0, 3 | kInstalled);
  EXPECT_EQ(bench.read(kVmid, kVirtual + kPage).completion, Completion::kBadTable);
  EXPECT_EQ(bench.produced(), 0U);
  EXPECT_TRUE(bench.raised.empty());
}

TEST_F(MmuPageFault, OneRecordForAPageAKindAndAClient) {
  for (unsigned i = 0; i < 3; ++i) bench.issue(false, kVmid, kVirtual + i);
  bench.issue(true, kVmid, kVirtual + 9);
  bench.issue(false, kVmid, kVirtual + 8, 0, 1);
  bench.run(10_us);
  EXPECT_EQ(bench.produced(), 3U);
  EXPECT_EQ(bench.record(1).address, kVirtual);
  EXPECT_EQ(bench.record(2).write, 1);
  EXPECT_EQ(bench.record(3).unit, 1);
  EXPECT_EQ(bench.raised.size(), 1U) << "the host has not taken the first one yet";
  bench.issue(false, kVmid, kVirtual + 100);
  bench.run(10_us);
  EXPECT_EQ(bench.produced(), 3U) << "it has joined";
  bench.tables.map(kVmid, kVirtual, kPage);
  bench.reply(kVirtual);
  bench.run(10_us);
  EXPECT_EQ(bench.responses.size(), 6U);
}

TEST_F(MmuPageFault, AWriteToAPageThatIsReadOnlyIsOneThatWaits) {
  bench.tables.map(kVmid, kVirtual, kPage, true, false);
  EXPECT_EQ(bench.read(kVmid, kVirtual).completion, Completion::kSuccess);
  const auto id = bench.issue(true, kVmid, kVirtual);
  bench.run(10_us);
  EXPECT_EQ(bench.record(1).forbidden, 1);
  EXPECT_EQ(bench.record(1).write, 1);
  EXPECT_EQ(bench.read(kVmid, kVirtual + 1).completion, Completion::kSuccess);
  bench.tables.map(kVmid, kVirtual, 3 * kPage);
  bench.invalidate(abi::MmuInvalidate::kRange, kVmid, kVirtual, kPage);
  bench.run(10_us);
  EXPECT_FALSE(bench.invalidating()) << "what waits is not in flight";
  bench.reply(kVirtual);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  EXPECT_EQ(bench.last_address(), 3 * kPage);
}

TEST_F(MmuPageFault, AReplyMayBeThatThereIsNoPage) {
  const auto other = bench.issue(false, kVmid, kVirtual + kPage);
  const auto id = bench.issue(true, kVmid, kVirtual);
  bench.run(10_us);
  bench.reply(kVirtual, true);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kNotMapped);
  EXPECT_FALSE(bench.answered(other));
  bench.reply(0, true, true);
  bench.run(10_us);
  EXPECT_EQ(bench.response(other).completion, Completion::kNotMapped);
  EXPECT_EQ(bench.mmu.statistics().not_mapped, 2U);
}

TEST_F(MmuPageFault, AReplyWithoutAPageIsAnotherFault) {
  const auto id = bench.issue(false, kVmid, kVirtual);
  bench.run(10_us);
  bench.write(PageFaultConsumer::from_raw(1));
  bench.reply(kVirtual);
  bench.run(10_us);
  EXPECT_EQ(bench.produced(), 2U);
  EXPECT_EQ(bench.raised.size(), 2U);
  EXPECT_FALSE(bench.answered(id));
}

TEST_F(MmuPageFault, ASpaceThatIsGivenUpEndsWhatWaitsThere) {
  bench.write(abi::PageFaultSpaces::from_raw(1U << kVmid | 1U << (kVmid + 1)));
  const auto id = bench.issue(false, kVmid, kVirtual);
  const auto other = bench.issue(false, kVmid + 1, kVirtual);
  bench.run(10_us);
  bench.write(abi::PageFaultSpaces::from_raw(1U << (kVmid + 1)));
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kNotMapped);
  EXPECT_FALSE(bench.answered(other));
}

TEST_F(MmuPageFault, AnInterruptFollowsWhatIsLeftInTheRing) {
  for (unsigned i = 0; i < 3; ++i) bench.issue(false, kVmid, kVirtual + i * kPage);
  bench.run(10_us);
  EXPECT_EQ(bench.raised.size(), 1U);
  bench.write(PageFaultConsumer::from_raw(2));
  EXPECT_EQ(bench.raised.size(), 2U) << "one is left";
  bench.write(PageFaultConsumer::from_raw(3));
  EXPECT_EQ(bench.raised.size(), 2U);
  bench.issue(false, kVmid, kVirtual + 3 * kPage);
  bench.run(10_us);
  EXPECT_EQ(bench.raised.size(), 3U);
}

TEST_F(MmuPageFault, WithAFullRingFaultsWaitForTheirRecords) {
  for (unsigned i = 0; i < 130; ++i) bench.issue(false, kVmid, kVirtual + i * kPage);
  bench.run(1_ms);
  EXPECT_EQ(bench.produced(), 128U);
  bench.write(PageFaultConsumer::from_raw(1));
  bench.run(1_us);
  EXPECT_EQ(bench.produced(), 129U);
  EXPECT_EQ(bench.record(129).address, kVirtual + 128 * kPage);
  // The last one is replied to before it was told of.
  bench.tables.map(kVmid, kVirtual + 129 * kPage, kPage);
  bench.reply(kVirtual + 129 * kPage);
  bench.run(1_us);
  EXPECT_EQ(bench.responses.size(), 1U);
  bench.write(PageFaultConsumer::from_raw(129));
  bench.run(10_us);
  EXPECT_EQ(bench.produced(), 129U);
}

TEST_F(MmuPageFault, AResetAnswersWhatWaits) {
  const auto id = bench.issue(false, kVmid, kVirtual);
  bench.run(Picoseconds(4 * kPerEntry + kFault / 2));
  bench.mmu.function_reset(0);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kCompleterAbort);
  EXPECT_EQ(bench.produced(), 0U);
  EXPECT_TRUE(bench.raised.empty());
  EXPECT_EQ(bench.sim.pool.in_use(), 0U);
}

// Whatever is asked, mapped, refused and given up in between: every request is answered in the end,
// as the tables were when its reply came.
class RandomPageFaults : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPageFaults, AreAllAnswered) {
  std::mt19937 random(GetParam());
  const auto upto = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
  PageFaultBench bench;
  std::set<std::uint64_t> mapped;
  std::uint32_t taken = 0;
  for (unsigned step = 0; step < 400; ++step) {
    const std::uint64_t page = kVirtual + upto(11) * kPage;
    switch (upto(5)) {
      case 0:
      case 1:
      case 2:
        bench.issue(upto(1) != 0, kVmid, page + upto(1000), 0x5A, upto(1));
        break;
      case 3:
        while (taken != bench.produced()) {
          const auto record = bench.record(++taken);
          const std::uint64_t at = record.address / kPage * kPage;
          if (upto(3) != 0) bench.tables.map(kVmid, at, kPage * (1 + upto(3)));
          bench.reply(at, upto(5) == 0);
        }
        bench.write(PageFaultConsumer::from_raw(taken));
        break;
      case 4:
        bench.tables.set(kVmid, page, 0, 0);
        bench.invalidate(abi::MmuInvalidate::kRange, kVmid, page, kPage);
        break;
      default:
        bench.run(Picoseconds(upto(3000) * 1000));
    }
    bench.run(Picoseconds(upto(100) * 1000));
  }
  bench.write(abi::PageFaultSpaces::from_raw(0));
  bench.run(1_ms);
  EXPECT_EQ(bench.responses.size(), bench.issued);
  EXPECT_EQ(bench.faults.waiting(), 0U);
  EXPECT_EQ(bench.sim.pool.in_use(), 0U);
  EXPECT_FALSE(bench.invalidating());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPageFaults, testing::Range(1U, 21U));

}  // namespace
}  // namespace npu::test
