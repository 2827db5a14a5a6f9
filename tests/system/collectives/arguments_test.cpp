// SPDX-License-Identifier: Apache-2.0
// What is refused, by the call itself.
#include "tests/system/collectives/collective_bench.hpp"

namespace npu::test {
namespace {

ErrorCode code_of(const Result<StreamMark>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorCode::kIo : result.error().code;
}

TEST(CollectiveArguments, AreRefusedBeforeAnythingIsSubmitted) {
  Machine({}, kPair).on<CollectiveBench>(2U, [](CollectiveBench& bench) {
    auto& all = *bench.all;
    const auto at = bench.ranks[0].from, to = bench.ranks[0].to;
    const CollectiveCall call{bench.ranks[0].stream.get()};
    const auto sum = Reduction::kSum;
    using Code = ErrorCode;
    EXPECT_EQ(code_of(all.all_reduce(2, call, at, to, 1, sum)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.all_reduce(0, {}, at, to, 1, sum)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.all_reduce(0, call, at + 2, to, 1, sum)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.all_reduce(0, call, at, to, 1, Reduction::kProduct)), Code::kUnsupported);
    CollectiveCall longs = call;
    longs.type = CollectiveType::kInt64;
    EXPECT_EQ(code_of(all.all_reduce(0, longs, at, to, 1, sum)), Code::kUnsupported);
    CollectiveCall pairwise = call;
    pairwise.algorithm = CollectiveAlgorithm::kPairwise;
    EXPECT_EQ(code_of(all.all_gather(0, pairwise, at, to, 1)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.broadcast(0, call, at, 1, 2)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.send(0, call, at, 1, 0)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.receive(0, call, at, 1, 7)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.all_gather_v(0, call, at, to, {{1}, {0}})), Code::kInvalidArgument);
    EXPECT_EQ(code_of(all.all_to_all_v(0, call, at, to, {{1, 1}, {0, 1}}, {{2, 1}, {0, 2}})),
              Code::kInvalidArgument);
    EXPECT_TRUE(must(bench.ranks[0].stream->query()).done);
  });
}

TEST(CollectiveArguments, OptionsOutOfRangeAreRefused) {
  Machine({}, kPair).on<CollectiveBench>(1U, [](CollectiveBench& bench) {
    const std::vector<driver::CommunicatorRank> one{{bench.ranks[0].process.get()}};
    const auto code = [](const std::vector<driver::CommunicatorRank>& ranks, auto change) {
      auto options = CollectiveBench::options();
      change(options);
      const auto made = Communicator::create(ranks, options);
      return made ? ErrorCode::kIo : made.error().code;
    };
    const auto nothing = [](auto&) {};
    EXPECT_EQ(code({}, nothing), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code({{nullptr}}, nothing), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(one, [](auto& o) { o.buffer = 1_MiB; }), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(one, [](auto& o) { o.timeout = Picoseconds{}; }), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(one, [](auto& o) { o.algorithms[1] = CollectiveAlgorithm::kPairwise; }),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(one,
                   [](auto& o) {
                     o.buffer = 4_GiB;
                     o.timeout = 1_s;
                   }),
              ErrorCode::kIo);
  });
}

TEST(CollectiveArguments, WithoutAWayToAPeerItIsRefused) {
  Machine({"fabric=none"}, kEightCards).on<CollectiveBench>(3U, [](CollectiveBench& bench) {
    CollectiveCall call{bench.ranks[0].stream.get()};
    const auto at = bench.ranks[0].from;
    EXPECT_EQ(code_of(bench.all->all_to_all(0, call, at, at, 1)), ErrorCode::kUnsupported);
    call.algorithm = CollectiveAlgorithm::kRing;
    EXPECT_EQ(code_of(bench.all->all_reduce(0, call, at, at, 1, Reduction::kSum)),
              ErrorCode::kUnsupported);
  });
}

// In a ring of eight, ranks 0 and 2 have no link. Rank 1 has both of its own, and must not wait.
TEST(CollectiveArguments, WithoutAWayBetweenOthersItIsRefusedOnEveryRank) {
  Machine({"fabric=ring"}, kEightCards).on<CollectiveBench>(3U, [](CollectiveBench& bench) {
    auto& all = *bench.all;
    const driver::VectorCounts ones{{1, 1, 1}, {0, 1, 2}};
    for (unsigned rank = 0; rank < 3; ++rank) {
      const CollectiveCall call{bench.ranks[rank].stream.get()};
      const auto from = bench.ranks[rank].from, to = bench.ranks[rank].to;
      EXPECT_EQ(code_of(all.all_to_all(rank, call, from, to, 1)), ErrorCode::kUnsupported);
      EXPECT_EQ(code_of(all.barrier(rank, call)), ErrorCode::kUnsupported);
      EXPECT_EQ(code_of(all.all_gather_v(rank, call, from, to, ones)), ErrorCode::kUnsupported);
    }
    const CollectiveCall call{bench.ranks[2].stream.get()};
    EXPECT_EQ(code_of(all.send(2, call, bench.ranks[2].from, 1, 0)), ErrorCode::kUnsupported);
  });
}

TEST(CollectiveArguments, NeighboursSendWhereOthersHaveNoWay) {
  Machine({"fabric=ring"}, kEightCards).on<CollectiveBench>(3U, [](CollectiveBench& bench) {
    const std::vector<float> sent{3, 5};
    bench.write(bench.ranks[1].from, 1, sent);
    bench.run_all([&](unsigned rank, const CollectiveCall& call) -> Result<StreamMark> {
      if (rank == 0) return StreamMark();
      if (rank == 1) return bench.all->send(1, call, bench.ranks[1].from, 2, 2);
      return bench.all->receive(2, call, bench.ranks[2].to, 2, 1);
    });
    EXPECT_EQ(bench.read<float>(bench.ranks[2].to, 2, 2), sent);
  });
}

}  // namespace
}  // namespace npu::test
