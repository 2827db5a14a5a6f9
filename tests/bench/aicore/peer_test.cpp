// SPDX-License-Identifier: Apache-2.0
// Lines of the scalar unit in another card's memory: their bytes are those of the time at which
// that memory has its turn, not of the answer's.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kPeer = 0x80'0000;
constexpr SimTime kTurn = 5 * kLatency;  // of what the peer's memory takes
constexpr SimTime kBeforeTurn = kTurn - 2 * kLatency, kBehindTurn = kTurn + 2 * kLatency;

struct PeerAicoreBench : AicoreBench {
  PeerAicoreBench() {
    peer = kPeer;
    latency = 2 * kTurn;
    vmid = 1;
    memory.store<std::uint32_t>(kPeer, 1);
  }
  // What a program reads at `address` while the word becomes 2 at `change` behind the request.
  std::uint64_t read(std::uint64_t address, SimTime change) {
    std::uint64_t value = 0;
    run_one([&](AicorePort& port) {
      port.memory_barrier();
      at(model::sim_now() + change, [&, address] { memory.store<std::uint32_t>(address, 2); });
      value = port.load(address, 4);
      return 0;
    });
    return value;
  }
};

// A core sends a line within a few clocks of the barrier.
TEST(AicorePeer, ALoadHasWhatWasThereWhenThePeersMemoryHadItsTurn) {
  PeerAicoreBench bench;
  EXPECT_EQ(bench.read(kPeer, kBeforeTurn), 2U);
  EXPECT_EQ(bench.read(kPeer + 64, kBehindTurn), 0U);
  EXPECT_EQ(bench.read(kData, kBehindTurn), 2U) << "of the own memory: at its answer";
}

TEST(AicorePeer, AStoreIsThereWhenThePeersMemoryHasIt) {
  PeerAicoreBench bench;
  std::vector<std::uint32_t> seen;
  bench.run_one([&](AicorePort& port) {
    port.store(kPeer + 8, 4, 7);
    port.memory_barrier();
    const auto look = [&] { seen.push_back(bench.memory.load<std::uint32_t>(kPeer + 8)); };
    const SimTime sent = model::sim_now();
    bench.at(sent + kBeforeTurn, look);
    bench.at(sent + kBehindTurn, look);
    port.clean_invalidate(kPeer + 8);
    port.memory_barrier();
    return 0;
  });
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 7}));
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kPeer), 1U) << "the rest of the line is as it was";
}

// A store that has arrived is not made again with the answer.
TEST(AicorePeer, WhatAnotherWritesBehindAStoreStays) {
  PeerAicoreBench bench;
  bench.run_one([&](AicorePort& port) {
    port.store(kPeer, 4, 7);
    port.clean_invalidate(kPeer);
    bench.at(model::sim_now() + kBehindTurn, [&] { bench.memory.store<std::uint32_t>(kPeer, 9); });
    port.memory_barrier();
    return 0;
  });
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kPeer), 9U);
}

}  // namespace
}  // namespace npu::test
