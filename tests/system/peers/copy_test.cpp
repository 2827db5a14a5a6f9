// SPDX-License-Identifier: Apache-2.0
// Copies between cards with the real driver: bytes, and who else is touched.
#include "tests/system/peers/peer_bench.hpp"

namespace npu::test {
namespace {

TEST(PeerCopy, WritesAndReadsArriveAndTouchNothingElse) {
  Machine({}, kTwoCards).on<PeerBench>([](PeerBench& bench) {
    auto& first = bench.cards[0];
    // Odd sizes and addresses, across a page of 2 MiB.
    const Bytes begin = 2_MiB - 5001, size = 100'003;
    ASSERT_TRUE(
        bench.copy(0, DmaCommand::device_to_peer(first.block + 77,
                                                 ImportedAddress(first.peers[1] + begin), size)));
    bench.look(1);
    EXPECT_TRUE(bench.holds(1, 0, begin, 0x11));
    EXPECT_TRUE(bench.holds(1, begin, begin + size, 0x10));
    EXPECT_TRUE(bench.holds(1, begin + size, PeerBench::kSize, 0x11));
    ASSERT_TRUE(bench.copy(0, DmaCommand::peer_to_device(ImportedAddress(first.peers[1] + 3),
                                                         first.block + 4096, 4099)));
    bench.look(0);
    EXPECT_TRUE(bench.holds(0, 0, 4096, 0x10));
    EXPECT_TRUE(bench.holds(0, 4096, 4096 + 4099, 0x11));
    EXPECT_TRUE(bench.holds(0, 4096 + 4099, PeerBench::kSize, 0x10));
  });
}

// The other card's completion is its own business: the bytes must be there when this one's is.
TEST(PeerCopy, DoneMeansInThePeersMemory) {
  Machine({}, kTwoCards).on<PeerBench>([](PeerBench& bench) {
    auto& first = bench.cards[0];
    for (unsigned round = 0; round < 20; ++round) {
      bench.fill(0, 64_KiB, round);
      ASSERT_TRUE(bench.copy(
          0, DmaCommand::device_to_peer(first.block, ImportedAddress(first.peers[1]), 64_KiB)));
      bench.look(1);
      ASSERT_TRUE(bench.holds(1, 0, 64_KiB, round)) << "round " << round;
    }
  });
}

// A device-to-device copy whose source is a peer's memory reads it over the link.
TEST(PeerCopy, PlainDeviceCopiesReachPeersToo) {
  Machine({}, kTwoCards).on<PeerBench>([](PeerBench& bench) {
    auto& second = bench.cards[1];
    ASSERT_TRUE(bench.copy(1, DmaCommand::device_to_device(second.peers[0], second.block, 1_MiB)));
    bench.look(1);
    EXPECT_TRUE(bench.holds(1, 0, 1_MiB, 0x10));
    EXPECT_TRUE(bench.holds(1, 1_MiB, PeerBench::kSize, 0x11));
  });
}

// Card n's block has a part for each card, which only that one writes.
TEST(PeerCopy, EightCardsWriteToAllOthersAtTheSameTime) {
  Machine({}, "system-8x910b.yaml").run([](platform::Platform& host) {
    constexpr unsigned kCards = 8;
    constexpr Bytes kPart = 96_KiB;  // the rest of a slot of 128 KiB stays the card's own
    PeerBench bench(host, kCards);
    for (unsigned from = 0; from < kCards; ++from) {
      auto& card = bench.cards[from];
      for (unsigned to = 0; to < kCards; ++to) {
        if (to == from) continue;
        const auto command = DmaCommand::device_to_peer(
            card.block + 2_MiB, ImportedAddress(card.peers[to] + from * Bytes{128_KiB}), kPart);
        ASSERT_TRUE(card.device->submit(card.stream, command));
      }
    }
    for (unsigned i = 0; i < kCards; ++i) {  // behind what its stream has been given
      ASSERT_TRUE(bench.copy(i, DmaCommand::device_to_device(bench.cards[i].block + 2_MiB,
                                                             bench.cards[i].block + 3_MiB, 64)));
    }
    for (unsigned to = 0; to < kCards; ++to) {
      bench.look(to);
      for (unsigned from = 0; from < kCards; ++from) {
        const Bytes slot = from * Bytes{128_KiB};
        EXPECT_TRUE(bench.holds(to, slot, slot + kPart, 0x10 + from)) << from << " to " << to;
        EXPECT_TRUE(bench.holds(to, slot + kPart, slot + 128_KiB, 0x10 + to));
      }
      EXPECT_TRUE(bench.holds(to, 1_MiB, PeerBench::kSize, 0x10 + to)) << "card " << to;
    }
  });
}

}  // namespace
}  // namespace npu::test
