// SPDX-License-Identifier: Apache-2.0
// Cards that are not there, do not let in, or go away.
#include "tests/bench/link/link_bench.hpp"

#include <algorithm>

namespace npu::test {
namespace {

// Of cards first .. first + 31; the register also says how many there are in all.
std::uint64_t links_of(LinkCard& card, unsigned first = 0, unsigned cards = 0) {
  abi::HccsLinks links;
  const auto offset = abi::HccsLinks::kOffset + abi::HccsWord::offset_of(first);
  EXPECT_TRUE(card.registers.bank().host_read(offset, reinterpret_cast<unsigned char*>(&links.raw),
                                              sizeof links.raw));
  if (cards != 0) {
    EXPECT_EQ(links.get<abi::HccsLinks::Cards>(), cards);
  }
  return links.get<abi::HccsLinks::Up>();
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

model::ChipConfig small_card() {
  auto config = link_chip_config();
  config.hbm.usable = config.hbm.installed = 64_KiB;
  return config;
}

// Neighbours of a ring: at the borders of words they are in two of them.
TEST(HccsWords, EveryCardHasItsBitInTheWordsOfItsNeighbours) {
  constexpr unsigned kCards = 384;
  LinkBench bench(kCards, small_card(), all_cards(model::FabricForm::kRing));
  for (const unsigned card : {0U, 31U, 32U, 63U, 64U, 127U, 128U, 255U, 256U, 383U}) {
    std::vector<unsigned> linked;
    for (unsigned first = 0; first < kCards; first += 32) {
      const auto word = links_of(bench.card(card), first, kCards);
      for (unsigned n = 0; n < 32; ++n) {
        if ((word >> n & 1) != 0) linked.push_back(first + n);
      }
    }
    std::vector<unsigned> neighbours{(card + kCards - 1) % kCards, (card + 1) % kCards};
    std::sort(neighbours.begin(), neighbours.end());
    EXPECT_EQ(linked, neighbours) << "card " << card;
  }
}

TEST(HccsWords, EveryCardIsLetInByItsOwnBit) {
  constexpr unsigned kCards = 384;
  LinkBench bench(kCards, small_card(), all_cards(model::FabricForm::kRing));
  for (const unsigned card : {31U, 63U, 127U, 255U, 383U}) {
    const unsigned to = (card + 1) % kCards;
    for (unsigned first = 0; first < kCards; first += 32) bench.card(to).let_in(UINT32_MAX, first);
    const std::uint64_t own = std::uint64_t{1} << card % 32;
    bench.card(to).let_in(UINT32_MAX & ~own, card - card % 32);
    auto& buffer = bench.card(card).buffer;
    const auto refused = bench.card(card).issue(true, to, 0, buffer.data(), 64);
    bench.run(10 * kMicrosecond);
    EXPECT_EQ(bench.card(card).answer(refused).completion, Completion::kPeerRefused) << card;
    for (unsigned first = 0; first < kCards; first += 32) bench.card(to).let_in(0, first);
    bench.card(to).let_in(own, card - card % 32);
    const auto taken = bench.card(card).issue(true, to, 0, buffer.data(), 64);
    bench.run(10 * kMicrosecond);
    EXPECT_EQ(bench.card(card).answer(taken).completion, Completion::kSuccess) << card;
  }
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
