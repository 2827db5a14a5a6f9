// SPDX-License-Identifier: Apache-2.0
// Operations in which each pair of ranks has counts of its own, and results in place.
#include <random>

#include "tests/system/collectives/collective_bench.hpp"

namespace npu::test {
namespace {

using driver::PeerTransfer;
using driver::VectorCounts;
using Words = std::vector<std::int32_t>;

constexpr unsigned kVectorRanks = 3;

// Element i of what rank `from` has for rank `to`.
std::int32_t value(unsigned from, unsigned to, std::uint64_t i) {
  return static_cast<std::int32_t>(1'000'000 * from + 100'000 * to + i);
}

// counts[a][b]: what a sends to b.
using Counts = std::vector<std::vector<std::uint64_t>>;

VectorCounts in_a_row(std::vector<std::uint64_t> counts, std::uint64_t gap) {
  VectorCounts all{std::move(counts), {}};
  std::uint64_t at = 0;
  for (const auto count : all.counts) {
    all.offsets.push_back(at);
    at += count + gap;
  }
  return all;
}

void fill(CollectiveBench& bench, unsigned rank, const VectorCounts& send) {
  Words words(CollectiveBench::kMemory / 4);
  for (unsigned to = 0; to < kVectorRanks; ++to) {
    for (std::uint64_t i = 0; i < send.counts[to]; ++i) {
      words[send.offsets[to] + i] = value(rank, to, i);
    }
  }
  bench.write(bench.ranks[rank].from, rank, words);
}

void expect_received(CollectiveBench& bench, unsigned rank, const VectorCounts& receive) {
  const auto words = bench.read<std::int32_t>(bench.ranks[rank].to, rank, 1'400'000);
  for (unsigned from = 0; from < kVectorRanks; ++from) {
    for (std::uint64_t i = 0; i < receive.counts[from]; ++i) {
      ASSERT_EQ(words[receive.offsets[from] + i], value(from, rank, i))
          << "element " << i << " from " << from << " at " << rank;
    }
  }
}

// One pair has nothing for each other, one more than a turn of the buffer.
TEST(CollectiveVectors, EachPairHasItsOwnCounts) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(kVectorRanks, [](auto& bench) {
    const Counts counts = {{10, 300'000, 7}, {0, 5, 400'001}, {1, 0, 0}};
    const auto row = [&](unsigned rank) { return in_a_row(counts[rank], 3); };
    const auto column = [&](unsigned rank) {
      return in_a_row({counts[0][rank], counts[1][rank], counts[2][rank]}, 1);
    };
    for (unsigned rank = 0; rank < kVectorRanks; ++rank) fill(bench, rank, row(rank));
    bench.run_all(
        [&](unsigned rank, const CollectiveCall& call) {
          return bench.all->all_to_all_v(rank, call, bench.ranks[rank].from, bench.ranks[rank].to,
                                         row(rank), column(rank));
        },
        CollectiveType::kInt32);
    for (unsigned rank = 0; rank < kVectorRanks; ++rank) expect_received(bench, rank, column(rank));
  });
}

TEST(CollectiveVectors, GathersAndScattersWithCounts) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(kVectorRanks, [](auto& bench) {
    const auto parts = in_a_row({5, 0, 100'003}, 2);
    for (unsigned rank = 0; rank < kVectorRanks; ++rank) {
      Words words(300'000);
      for (std::size_t i = 0; i < words.size(); ++i) words[i] = value(rank, 0, i);
      bench.write(bench.ranks[rank].from, rank, words);
    }
    bench.run_all(
        [&](unsigned rank, const CollectiveCall& call) {
          return bench.all->all_gather_v(rank, call, bench.ranks[rank].from, bench.ranks[rank].to,
                                         parts);
        },
        CollectiveType::kInt32);
    for (unsigned rank = 0; rank < kVectorRanks; ++rank) {
      const auto got = bench.template read<std::int32_t>(bench.ranks[rank].to, rank, 120'000);
      EXPECT_EQ(got[parts.offsets[0] + 4], value(0, 0, 4));
      EXPECT_EQ(got[parts.offsets[2] + 100'002], value(2, 0, 100'002));
    }
    bench.run_all(
        [&](unsigned rank, const CollectiveCall& call) {
          return bench.all->reduce_scatter_v(rank, call, bench.ranks[rank].from,
                                             bench.ranks[rank].to, parts, Reduction::kSum);
        },
        CollectiveType::kInt32);
    const auto at = parts.offsets[2] + 77;
    EXPECT_EQ(bench.template read<std::int32_t>(bench.ranks[2].to, 2, 100)[77],
              value(0, 0, at) + value(1, 0, at) + value(2, 0, at));
  });
}

// All of a ring at once, two to the same peer, one to itself: in an order that would never end one
// after the other.
TEST(CollectiveVectors, AGroupOfSendsAndReceivesHasNoOrder) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(kVectorRanks, [](auto& bench) {
    for (unsigned rank = 0; rank < kVectorRanks; ++rank) {
      const auto base = static_cast<std::int32_t>(100 * rank);
      bench.write(bench.ranks[rank].from, rank, Words{base, base + 1, base + 2, base + 3});
      bench.write(bench.ranks[rank].to, rank, Words(4));
    }
    bench.run_all([&](unsigned rank, const CollectiveCall& call) {
      const auto from = bench.ranks[rank].from, to = bench.ranks[rank].to;
      const unsigned next = (rank + 1) % kVectorRanks, before = (rank + 2) % kVectorRanks;
      return bench.all->transfer(rank, call,
                                 {{false, before, to, 4},
                                  {false, before, to + 4, 8},
                                  {true, next, from, 4},
                                  {true, rank, from + 12, 4},
                                  {false, rank, to + 12, 4},
                                  {true, next, from + 4, 8}});
    });
    for (unsigned rank = 0; rank < kVectorRanks; ++rank) {
      const auto base = static_cast<std::int32_t>(100 * ((rank + 2) % kVectorRanks));
      EXPECT_EQ(bench.template read<std::int32_t>(bench.ranks[rank].to, rank, 4),
                (Words{base, base + 1, base + 2, static_cast<std::int32_t>(100 * rank) + 3}));
    }
  });
}

TEST(CollectiveVectors, SendsMeetReceivesInOrderAndResultsMayBeInPlace) {
  Machine({"hbm.fidelity=run"}, kPair).on<CollectiveBench>(2U, [](CollectiveBench& bench) {
    bench.write(bench.ranks[0].from, 0, Words{1, 2});
    bench.write(bench.ranks[1].from, 1, Words{10, 20});
    const auto word = CollectiveType::kInt32;
    bench.run_all(
        [&](unsigned rank, const CollectiveCall& call) -> Result<StreamMark> {
          const auto at = bench.ranks[rank].from;
          if (auto summed = bench.all->all_reduce(rank, call, at, at, 2, Reduction::kSum);
              !summed) {
            return summed;
          }
          if (rank == 1) return bench.all->receive(rank, call, bench.ranks[1].to, 1, 0);
          return bench.all->send(rank, call, at + 4, 1, 1);
        },
        word);
    EXPECT_EQ(bench.read<std::int32_t>(bench.ranks[0].from, 0, 2), (Words{11, 22}));
    EXPECT_EQ(bench.read<std::int32_t>(bench.ranks[1].from, 1, 2), (Words{11, 22}));
    EXPECT_EQ(bench.read<std::int32_t>(bench.ranks[1].to, 1, 1), Words{22});
  });
}

}  // namespace
}  // namespace npu::test
