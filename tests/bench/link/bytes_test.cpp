// SPDX-License-Identifier: Apache-2.0
// Bytes without time, and time without bytes: what programs of AI Cores need of a link.
#include <gmock/gmock.h>

#include "tests/bench/link/link_bench.hpp"

namespace npu::test {
namespace {

using model::Transaction;

struct Told : model::WriteObserver {
  void bytes_written(std::uint64_t address, Bytes length) override {
    writes.emplace_back(address, length);
  }
  std::vector<std::pair<std::uint64_t, Bytes>> writes;
};

struct BytesBench : LinkBench {
  BytesBench() : LinkBench(3) { card(1).port.observe_writes(told); }
  // At once, between card 0 and card `peer`.
  Completion move(bool write, unsigned peer, std::uint64_t address, unsigned char& data) {
    auto& trans = sim.pool.allocate(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address,
                                    &data, 1);
    Transaction::of(trans).peer = static_cast<std::uint8_t>(peer + 1);
    const unsigned moved = card(0).mmu->transport_dbg(trans);
    const auto completion = Transaction::of(trans).completion;
    EXPECT_EQ(moved, completion == Completion::kSuccess ? 1U : 0U);
    trans.release();
    return completion;
  }
  Told told;
  unsigned char byte = 0x77;
};

using HccsBytes = OnBench<BytesBench>;

TEST_F(HccsBytes, MoveAtOnceAndThePeerIsToldOfWrites) {
  const auto begin = model::sim_now();
  EXPECT_EQ(bench.move(true, 1, 0x1234, bench.byte), Completion::kSuccess);
  EXPECT_EQ(bench.card(1).memory.bytes[0x1234], 0x77);
  unsigned char found = 0;
  EXPECT_EQ(bench.move(false, 1, 0x1234, found), Completion::kSuccess);
  EXPECT_EQ(found, 0x77);
  EXPECT_THAT(bench.told.writes, testing::ElementsAre(std::pair<std::uint64_t, Bytes>(0x1234, 1)));
  EXPECT_EQ(model::sim_now(), begin);
  EXPECT_EQ(bench.sim.agenda.pending(), 0U);
  EXPECT_TRUE(bench.card(1).memory.seen.empty()) << "no request";
}

TEST_F(HccsBytes, AreRefusedAsRequestsAre) {
  bench.card(1).let_in(0b100);
  EXPECT_EQ(bench.move(true, 1, 0, bench.byte), Completion::kPeerRefused);
  EXPECT_EQ(bench.move(true, 2, 1_MiB, bench.byte), Completion::kUnsupportedRequest);
  EXPECT_EQ(bench.move(true, 7, 0, bench.byte), Completion::kNoPeer);
  bench.net().set_up(bench.link("card0", "card2"), false);
  bench.net().set_up(bench.link("card0", "card1"), false);
  EXPECT_EQ(bench.move(false, 2, 0, bench.byte), Completion::kPeerLinkDown);
  EXPECT_TRUE(bench.told.writes.empty());
}

TEST_F(HccsBytes, AWriteWithoutThemTakesTheSameTimeAndMovesNothing) {
  auto& trans = bench.sim.pool.allocate_timing(tlm::TLM_WRITE_COMMAND, 0x3000, 4096);
  Transaction::of(trans).peer = 2;
  send_request(bench.card(0).mmu, trans);
  bench.run(10 * kMicrosecond);
  ASSERT_EQ(bench.card(0).answers.size(), 1U);
  EXPECT_EQ(bench.card(0).answers[0].when, kRoundTrip);
  EXPECT_EQ(bench.card(0).answers[0].completion, Completion::kSuccess);
  EXPECT_EQ(bench.card(1).memory.bytes[0x3000], 0);
}

}  // namespace
}  // namespace npu::test
