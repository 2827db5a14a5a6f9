// SPDX-License-Identifier: Apache-2.0
// Cards that are not there, do not let in, or go away.
#include "tests/bench/link/link_bench.hpp"

namespace npu::test {
namespace {

std::uint64_t links_of(LinkCard& card) {
  std::uint64_t raw = 0;
  EXPECT_TRUE(card.registers.bank().host_read(abi::HccsLinks::kOffset,
                                              reinterpret_cast<unsigned char*>(&raw), sizeof raw));
  return raw;
}

TEST(HccsTopology, AFullMeshLinksEveryTwoCards) {
  LinkBench bench(4);
  EXPECT_EQ(bench.net().plan().links.size(), 6U);
  EXPECT_EQ(links_of(bench.card(1)), 0b1101U);
}

TEST(HccsTopology, ARingLinksNeighboursOnly) {
  LinkBench bench(4, link_chip_config(), all_cards(model::FabricForm::kRing));
  EXPECT_EQ(bench.net().plan().links.size(), 4U);
  EXPECT_EQ(links_of(bench.card(0)), 0b1010U);
  const auto id = bench.card(0).issue(true, 2, 0, bench.card(0).buffer.data(), 64);
  bench.run(kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(id).completion, Completion::kNoPeer);
}

TEST(HccsTopology, WithoutLinksThereAreNoPeers) {
  LinkBench bench(2, link_chip_config(), all_cards(model::FabricForm::kNone));
  EXPECT_EQ(links_of(bench.card(0)), 0U);
  const auto id = bench.card(0).issue(false, 1, 0, bench.card(0).buffer.data(), 64);
  bench.run(kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(id).completion, Completion::kNoPeer);
}

TEST(HccsAccess, ACardThatIsNotLetInReachesNothing) {
  LinkBench bench(3);
  bench.card(1).let_in(0b100);
  bench.card(1).memory.bytes[0] = 0x77;
  const auto write = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 64);
  const auto read = bench.card(0).issue(false, 1, 0, bench.card(0).buffer.data(), 64);
  const auto other = bench.card(2).issue(true, 1, 64, bench.card(2).buffer.data(), 64);
  bench.run(10 * kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(write).completion, Completion::kPeerRefused);
  EXPECT_EQ(bench.card(0).answer(read).completion, Completion::kPeerRefused);
  EXPECT_EQ(bench.card(0).buffer[0], 0x5A) << "no bytes came";
  EXPECT_EQ(bench.card(2).answer(other).completion, Completion::kSuccess);
  EXPECT_EQ(bench.card(1).memory.bytes[0], 0x77);
}

// What the card keeps for itself, page tables and rings, is nobody else's.
TEST(HccsAccess, MemoryBeyondTheUsableIsRefused) {
  LinkBench bench;
  const auto inside = bench.card(0).issue(true, 1, 1_MiB - 64, bench.card(0).buffer.data(), 64);
  const auto across = bench.card(0).issue(true, 1, 1_MiB - 32, bench.card(0).buffer.data(), 64);
  bench.run(10 * kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(inside).completion, Completion::kSuccess);
  EXPECT_EQ(bench.card(0).answer(across).completion, Completion::kUnsupportedRequest);
  EXPECT_EQ(bench.card(1).memory.seen.size(), 1U);
}

TEST(HccsLinkDown, RequestsFailAtOnceAndWorkAgainWhenItIsUp) {
  LinkBench bench;
  bench.net().set_up(0, false);
  EXPECT_EQ(links_of(bench.card(0)), 0U);
  const auto down = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 64);
  bench.run(kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(down).completion, Completion::kPeerLinkDown);
  EXPECT_EQ(bench.card(0).answer(down).when, 0U);
  bench.net().set_up(0, true);
  const auto up = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 64);
  bench.run(kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(up).completion, Completion::kSuccess);
  EXPECT_EQ(links_of(bench.card(0)), 2U);
}

// Messages at every place: in the queue, on the wire, in the peer's memory, on the way back.
TEST(HccsLinkDown, WhatWasInFlightFailsAfterTheTimeout) {
  LinkBench bench;
  bench.card(0).issue_many(true, 1, 8);
  bench.card(1).issue_many(false, 0, 8);
  bench.run(kRoundTrip + kFull / 2);
  const auto before = bench.card(0).answers.size() + bench.card(1).answers.size();
  bench.net().set_up(0, false);
  bench.run(200 * kMicrosecond);
  EXPECT_GT(before, 0U);
  for (const unsigned i : {0U, 1U}) {
    const auto& answers = bench.card(i).answers;
    ASSERT_EQ(answers.size(), 8U);
    for (const auto& each : answers) {
      if (each.completion == Completion::kSuccess) continue;
      EXPECT_EQ(each.completion, Completion::kPeerLinkDown);
      EXPECT_EQ(each.when, 100 * kMicrosecond);
    }
    EXPECT_EQ(answers.back().completion, Completion::kPeerLinkDown);
  }
}

// Going up again in between brings nothing back.
TEST(HccsLinkDown, AFlappingLinkLosesWhatWasInFlight) {
  auto config = link_chip_config();
  config.hccs.receive_buffer = 8_KiB;
  LinkBench bench(2, config);
  bench.card(0).issue_many(true, 1, 6);
  bench.run(kFull / 2);
  bench.net().set_up(0, false);
  bench.run(kFull);
  bench.net().set_up(0, true);
  const auto fresh = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 4096, 1);
  bench.run(300 * kMicrosecond);
  ASSERT_EQ(bench.card(0).answers.size(), 7U);
  for (const auto& each : bench.card(0).answers) {
    EXPECT_EQ(each.completion, each.id == fresh ? Completion::kSuccess : Completion::kPeerLinkDown);
  }
  EXPECT_EQ(bench.card(1).memory.seen.size(), 1U);
}

TEST(HccsReset, WhatWaitsIsAbortedAndLateDataGoesNowhere) {
  auto config = link_chip_config();
  config.hccs.max_outstanding_reads = 4_KiB;
  LinkBench bench(2, config);
  bench.card(0).issue_many(false, 1, 3);
  bench.run(kMicrosecond / 10);
  bench.card(0).port.function_reset(0);
  bench.run(10 * kMicrosecond);
  const auto& answers = bench.card(0).answers;
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].completion, Completion::kCompleterAbort);
  EXPECT_EQ(answers[0].when, kMicrosecond / 10);
  EXPECT_EQ(answers[1].completion, Completion::kCompleterAbort);
  EXPECT_EQ(answers[2].when, kRoundTrip);
  EXPECT_EQ(bench.card(0).buffer[0], 0x5A) << "the peer's bytes are zero";
}

}  // namespace
}  // namespace npu::test
