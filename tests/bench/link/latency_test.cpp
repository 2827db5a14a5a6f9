// SPDX-License-Identifier: Apache-2.0
// One request alone, and the most that fits on the wire: closed forms.
#include "tests/bench/link/link_bench.hpp"

namespace npu::test {
namespace {

using HccsLatency = OnBench<LinkBench>;

TEST_F(HccsLatency, AWriteIsAnsweredWhenThePeersMemoryHasIt) {
  const auto id = bench.card(0).issue(true, 1, 0x3000, bench.card(0).buffer.data(), 4096);
  bench.run(10 * kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(id).when, kRoundTrip);
  ASSERT_EQ(bench.card(1).memory.seen.size(), 1U);
  EXPECT_EQ(bench.card(1).memory.seen[0].when, kFull + kPropagation + kIngress);
  EXPECT_EQ(bench.card(1).memory.bytes[0x3000], 0x5A);
  EXPECT_EQ(bench.card(1).memory.bytes[0x3FFF], 0x5A);
  EXPECT_EQ(bench.card(0).memory.seen.size(), 0U);
}

TEST_F(HccsLatency, AReadBringsThePeersBytes) {
  bench.card(1).memory.bytes[0x1234] = 0xC3;
  unsigned char found = 0;
  const auto id = bench.card(0).issue(false, 1, 0x1234, &found, 1);
  bench.run(10 * kMicrosecond);
  // The request is a packet of overhead, the response one with a byte of data.
  EXPECT_EQ(bench.card(0).answer(id).when,
            kEmpty + kPropagation + kIngress + kMemory + 65 * kByte + kPropagation);
  EXPECT_EQ(found, 0xC3);
}

TEST_F(HccsLatency, EveryPacketHasItsOverhead) {
  const auto id = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 257);
  bench.run(10 * kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(id).when, kRoundTrip - kFull + (257 + 2 * 64) * kByte);
}

TEST_F(HccsLatency, WhatLeavesIsWhatWasThereWhenItLeft) {
  bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 1);
  bench.card(0).buffer[0] = 0x11;
  bench.run(10 * kMicrosecond);
  EXPECT_EQ(bench.card(1).memory.bytes[0], 0x5A);
}

TEST(HccsBandwidth, WritesFillTheWire) {
  LinkBench bench;
  bench.card(0).issue_many(true, 1, 64);
  bench.run(100 * kMicrosecond);
  ASSERT_EQ(bench.card(0).answers.size(), 64U);
  EXPECT_EQ(bench.card(0).answers.front().when, kRoundTrip);
  EXPECT_EQ(bench.card(0).answers.back().when, kRoundTrip + 63 * kFull);
}

// All 64 requests have left before the first response comes.
TEST(HccsBandwidth, ReadsFillTheWireBack) {
  LinkBench bench;
  bench.card(0).issue_many(false, 1, 64);
  bench.run(100 * kMicrosecond);
  ASSERT_EQ(bench.card(0).answers.size(), 64U);
  EXPECT_EQ(bench.card(0).answers.back().when, kRoundTrip + 63 * kFull);
}

// Two of 4 KiB on their way: two per round trip, once that is longer than they take on the wire.
TEST(HccsBandwidth, OutstandingWritesBoundIt) {
  auto config = link_chip_config();
  config.hccs.max_outstanding_writes = 8_KiB;
  config.hccs.propagation = 500_ns;
  LinkBench bench(2, config);
  bench.card(0).issue_many(true, 1, 20);
  bench.run(100 * kMicrosecond);
  const SimTime trip = kRoundTrip + 2 * (500'000 - kPropagation);
  ASSERT_EQ(bench.card(0).answers.size(), 20U);
  EXPECT_EQ(bench.card(0).answers[18].when, 10 * trip);
  EXPECT_EQ(bench.card(0).answers[19].when, 10 * trip + kFull);
  EXPECT_EQ(bench.card(1).memory.most_outstanding, 1U);
}

TEST(HccsBandwidth, ReadsAndWritesAreBoundApart) {
  auto config = link_chip_config();
  config.hccs.max_outstanding_reads = 4_KiB;
  LinkBench bench(2, config);
  bench.card(0).issue_many(false, 1, 4);
  const auto write = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 4096);
  bench.run(100 * kMicrosecond);
  // One read at a time; the write goes at once, behind the first read's request.
  EXPECT_EQ(bench.card(0).answers.back().when, 4 * kRoundTrip);
  EXPECT_LT(bench.card(0).answer(write).when, 2 * kRoundTrip);
}

// Acknowledgements go between packets and take their own time only.
TEST(HccsBandwidth, BothDirectionsAreIndependent) {
  constexpr unsigned kCount = 64;
  LinkBench bench;
  bench.card(0).issue_many(true, 1, kCount);
  bench.card(1).issue_many(true, 0, kCount);
  bench.run(100 * kMicrosecond);
  for (const unsigned i : {0U, 1U}) {
    ASSERT_EQ(bench.card(i).answers.size(), kCount);
    EXPECT_GE(bench.card(i).answers.back().when, kRoundTrip + (kCount - 1) * kFull);
    EXPECT_LE(bench.card(i).answers.back().when,
              kRoundTrip + (kCount - 1) * kFull + kCount * kEmpty + kPacket);
  }
}

// The wire back is full of the other card's data all the time.
TEST(HccsBandwidth, AnAcknowledgementWaitsForAPacketNotForAMessage) {
  LinkBench bench;
  bench.card(1).issue_many(true, 0, 64);
  bench.run(kMicrosecond);
  for (unsigned i = 0; i < 10; ++i) {
    const auto begin = model::sim_now();
    const auto id = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 64);
    bench.run(777'000);
    // A packet of 128 bytes there, between others, and one of 64 back; each meets acknowledgements.
    const SimTime alone = kRoundTrip - kFull + 128 * kByte;
    EXPECT_LE(bench.card(0).answer(id).when - begin, alone + 2 * (kPacket + kEmpty));
  }
  EXPECT_LT(bench.card(1).answers.size(), 64U) << "full to the end";
}

TEST(HccsBandwidth, StatisticsCountWhatWasCarried) {
  LinkBench bench;
  bench.card(0).issue_many(true, 1, 3);
  bench.run(100 * kMicrosecond);
  const auto& there = bench.net().wire(0, 0).statistics();
  const auto& back = bench.net().wire(0, 1).statistics();
  EXPECT_EQ(there.messages, 3U);
  EXPECT_EQ(there.payload_bytes, 3U * 4096);
  EXPECT_EQ(there.wire_bytes, 3U * 5120);
  EXPECT_EQ(there.busy, 3 * kFull);
  EXPECT_EQ(back.messages, 3U);
  EXPECT_EQ(back.payload_bytes, 0U);
  EXPECT_EQ(back.busy, 3 * kEmpty);
}

}  // namespace
}  // namespace npu::test
