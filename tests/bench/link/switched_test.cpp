// SPDX-License-Identifier: Apache-2.0
// Switches between cards: closed forms of hops, shares of a congested output, full buffers, ways.
#include <algorithm>

#include "tests/bench/link/switched_bench.hpp"

namespace npu::test {
namespace {

using model::FabricForwarding;

// A write over one switch, without its own time on the last link's ingress and in memory.
constexpr SimTime kBack = 2 * (kEmpty + kPropagation) + kLatency;

SimTime time_of_a_write(FabricForwarding forwarding, unsigned length) {
  LinkBench bench(2, link_chip_config(), star(forwarding));
  const auto id = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), length);
  bench.run(100 * kMicrosecond);
  EXPECT_EQ(bench.card(1).memory.bytes[length - 1], 0x5A);
  return bench.card(0).answer(id).when;
}

TEST(SwitchLatency, AStoreWaitsForWholePackets) {
  const SimTime there = kFull + kPropagation + kLatency + kPacket + kPropagation;
  EXPECT_EQ(time_of_a_write(FabricForwarding::kStore, 4096), there + kIngress + kMemory + kBack);
}

TEST(SwitchLatency, AShortLastPacketIsSentOnSoonerThanAWholeOne) {
  // 300 bytes: a packet of 320 on the wire and one of 108.
  const SimTime there = 428 * kByte + kPropagation + kLatency + 108 * kByte + kPropagation;
  const SimTime first = 320 * kByte + kPropagation + kLatency + 428 * kByte + kPropagation;
  EXPECT_EQ(time_of_a_write(FabricForwarding::kStore, 300),
            std::max(there, first) + kIngress + kMemory + kBack);
}

TEST(SwitchLatency, CuttingThroughWaitsForTheHeader) {
  const SimTime there = kEmpty + kPropagation + kLatency + kFull + kPropagation;
  EXPECT_EQ(time_of_a_write(FabricForwarding::kCutThrough, 4096),
            there + kIngress + kMemory + kBack);
}

TEST(SwitchLatency, AReadBringsThePeersBytes) {
  LinkBench bench(2, link_chip_config(), star(FabricForwarding::kCutThrough));
  bench.card(1).memory.bytes[0x1234] = 0xC3;
  std::vector<unsigned char> found(4096);
  const auto id = bench.card(0).issue(false, 1, 0x1000, found.data(), 4096);
  bench.run(100 * kMicrosecond);
  const SimTime back = kEmpty + kPropagation + kLatency + kFull + kPropagation;
  EXPECT_EQ(bench.card(0).answer(id).when, kBack + kIngress + kMemory + back);
  EXPECT_EQ(found[0x234], 0xC3);
}

// Data of a slow link leave a fast one without gaps: the fast one is not held for longer.
TEST(SwitchLatency, ASlowLinkDoesNotHoldAFastOne) {
  auto fabric = star(FabricForwarding::kStore);
  auto slow = fabric.parts[0];
  fabric.parts[0].nodes = {"card0"};
  slow.form = model::FabricForm::kLinks;
  slow.nodes = {"card1"};
  slow.to = {"sw0"};
  slow.link.rate /= 4;
  fabric.parts.push_back(slow);
  LinkBench bench(2, link_chip_config(), fabric);
  bench.card(1).issue(true, 0, 0, bench.card(1).buffer.data(), 4096);
  bench.run(100 * kMicrosecond);
  const auto& fast = bench.net().wire(bench.link("card0", "sw0"), 1).statistics();
  EXPECT_EQ(fast.busy, kFull);
  const SimTime there = 4 * kFull + kPropagation + kLatency + kPacket + kPropagation;
  ASSERT_EQ(bench.card(0).memory.seen.size(), 1U);
  EXPECT_EQ(bench.card(0).memory.seen[0].when, there + kIngress);
}

TEST(SwitchFairness, WhoMeetsAtAnOutputGetsTheSame) {
  LinkBench bench(4, link_chip_config(), star(FabricForwarding::kStore));
  for (unsigned from = 0; from < 3; ++from) bench.card(from).issue_many(true, 3, 100);
  bench.run(100 * kMicrosecond);
  std::vector<std::size_t> done;
  for (unsigned from = 0; from < 3; ++from) done.push_back(bench.card(from).answers.size());
  std::sort(done.begin(), done.end());
  EXPECT_LE(done[2] - done[0], 1U);
  // The output is busy all the time, but for the way to it and the way back.
  const SimTime ways = 2 * (kRoundTrip + kLatency);
  EXPECT_GE((done[0] + done[1] + done[2]) * kFull, 100 * kMicrosecond - ways);
}

// One in four of the cards does not take anything: the switch fills up, and nothing is lost.
TEST(SwitchCredits, AFullSwitchHoldsWritesBackAndLosesNone) {
  auto fabric = star(FabricForwarding::kStore);
  fabric.parts[0].link.receive_buffer = 8_KiB;
  LinkBench bench(3, link_chip_config(), fabric);
  bench.card(2).memory.answer = false;
  for (unsigned from = 0; from < 2; ++from) bench.card(from).issue_many(true, 2, 20);
  bench.run(200 * kMicrosecond);
  EXPECT_EQ(bench.card(2).memory.seen.size(), 2U) << "8 KiB";
  const auto& out = bench.net().wire(bench.link("card2", "sw0"), 1).statistics();
  EXPECT_EQ(out.queued, 2 * 8_KiB) << "a buffer for each of two inputs";
  EXPECT_EQ(out.queue_peak, out.queued);
  // Reads of the other cards and acknowledgements pass.
  const auto read = bench.card(0).issue(false, 1, 0, bench.card(0).buffer.data(), 64);
  bench.run(10 * kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(read).completion, Completion::kSuccess);
  bench.card(2).memory.answer = true;
  bench.card(2).memory.answer_kept();
  bench.run(1000 * kMicrosecond);
  EXPECT_EQ(bench.card(2).memory.seen.size(), 40U);
  EXPECT_EQ(bench.card(0).answers.size(), 21U);
  EXPECT_EQ(bench.card(1).answers.size(), 20U);
  EXPECT_EQ(out.queued, 0U);
}

TEST(SwitchCredits, ASmallBufferBoundsTheRate) {
  auto fabric = star(FabricForwarding::kStore);
  fabric.parts[0].link.receive_buffer = 4_KiB;
  LinkBench bench(2, link_chip_config(), fabric);
  bench.card(0).issue_many(true, 1, 2);
  bench.run(100 * kMicrosecond);
  // The second leaves the card when it knows that the first has left the switch.
  const SimTime left = kFull + kPropagation + kLatency + kPacket;
  const auto& seen = bench.card(1).memory.seen;
  ASSERT_EQ(seen.size(), 2U);
  // Its last link has room again with the response to the first.
  const SimTime second = left + kPropagation + kFull + kPropagation + kLatency + kPacket;
  const SimTime room = left + kPropagation + kIngress + kMemory + kEmpty + kPropagation + kFull;
  EXPECT_EQ(seen[1].when, std::max(second, room) + kPropagation + kIngress);
}

// Two ways from switch to switch, of which one goes down.
TEST(SwitchDown, TrafficTakesTheOtherWay) {
  LinkBench bench(2, link_chip_config(), two_ways());
  const auto through = [&](const std::string& middle) {
    return bench.net().wire(bench.link("a0", middle), 0).statistics().messages;
  };
  const std::string taken = [&] {
    bench.card(0).issue_many(true, 1, 1);
    bench.run(100 * kMicrosecond);
    return through("b0") > 0 ? "b0" : "b1";
  }();
  const std::string other = taken == "b0" ? "b1" : "b0";
  EXPECT_EQ(through(other), 0U);
  bench.net().set_up(bench.link("a0", taken), false);
  bench.card(0).issue_many(true, 1, 3);
  bench.run(100 * kMicrosecond);
  EXPECT_EQ(through(other), 3U);
  bench.net().set_up(bench.link("a0", other), false);
  EXPECT_FALSE(bench.net().reaches(0, 1));
  bench.card(0).issue_many(true, 1, 1);
  bench.run(kMicrosecond);
  ASSERT_EQ(bench.card(0).answers.size(), 5U);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.card(0).answers[i].completion, Completion::kSuccess);
  }
  EXPECT_EQ(bench.card(0).answers[4].completion, Completion::kPeerLinkDown);
}

TEST(SwitchDown, WhatWasOnTheLinkFailsAfterTheTimeoutAndLeavesRoom) {
  auto fabric = two_ways();
  for (auto& part : fabric.parts) part.link.receive_buffer = 4_KiB;
  LinkBench bench(2, link_chip_config(), fabric);
  bench.card(0).issue_many(true, 1, 6);
  bench.run(2 * kFull + kLatency);
  for (const std::string middle : {"b0", "b1"}) {
    bench.net().set_up(bench.link("a0", middle), false);
    bench.net().set_up(bench.link("a0", middle), true);
  }
  bench.run(1);
  const auto fresh = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 4096, 1);
  bench.run(400 * kMicrosecond);
  ASSERT_EQ(bench.card(0).answers.size(), 7U);
  for (const auto& each : bench.card(0).answers) {
    EXPECT_EQ(each.completion, each.id == fresh ? Completion::kSuccess : Completion::kPeerLinkDown);
  }
}

TEST(SwitchRouting, EcmpSpreadsFlowsAndKeepsEachOnItsWay) {
  auto fabric = two_ways();
  fabric.routing = model::FabricRouting::kEcmp;
  LinkBench bench(2, link_chip_config(), fabric);
  for (unsigned flow = 0; flow < 16; ++flow) {
    const auto& b0 = bench.net().wire(bench.link("a0", "b0"), 0).statistics();
    const auto before = b0.messages;
    bench.card(0).issue_many(true, 1, 4, flow);
    bench.run(100 * kMicrosecond);
    EXPECT_EQ((b0.messages - before) % 4, 0U) << "all or none, flow " << flow;
  }
  for (const std::string middle : {"b0", "b1"}) {
    const auto& wire = bench.net().wire(bench.link("a0", middle), 0).statistics();
    EXPECT_GT(wire.messages, 8U) << middle;
  }
}

}  // namespace
}  // namespace npu::test
