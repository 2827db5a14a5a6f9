// SPDX-License-Identifier: Apache-2.0
// Operations by vector cores that read the peers' memory: the order of sums, streams that change,
// links that are down and ranks that do not come.
#include <cmath>
#include <random>

#include "tests/system/collectives/collective_bench.hpp"

namespace npu::test {
namespace {

constexpr auto kAiv = CollectiveAlgorithm::kAiv;
constexpr auto kFp32 = CollectiveType::kFp32;

CollectiveBench::Part sums(CollectiveBench& bench, std::uint64_t count) {
  return [&bench, count](unsigned rank, const CollectiveCall& call) {
    return bench.all->all_reduce(rank, call, bench.ranks[rank].from, bench.ranks[rank].to, count,
                                 Reduction::kSum);
  };
}

void expect_failed(const CollectiveBench& bench, std::initializer_list<unsigned> ranks) {
  for (const auto rank : ranks) {
    ASSERT_FALSE(bench.ranks[rank].ended) << rank;
    EXPECT_EQ(bench.ranks[rank].ended.error().code, ErrorCode::kDeviceFault);
  }
}

// Numbers of which every other order gives another sum.
TEST(VectorCollective, ASumHasTheOrderOfTheRanks) {
  constexpr unsigned kFive = 5;
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(kFive, [](auto& bench) {
    std::mt19937 random(1);
    for (const std::uint64_t count : {100U, 30'001U}) {
      std::vector<float> expected(count);
      for (unsigned rank = 0; rank < kFive; ++rank) {
        std::vector<float> values(count);
        for (std::uint64_t i = 0; i < count; ++i) {
          values[i] = std::ldexp(static_cast<float>(random() % 2000) - 1000,
                                 static_cast<int>(random() % 40));
          expected[i] = rank == 0 ? values[i] : expected[i] + values[i];
        }
        bench.write(bench.ranks[rank].from, rank, values);
      }
      bench.run_all(sums(bench, count), kFp32, kAiv);
      for (unsigned rank = 0; rank < kFive; ++rank) {
        EXPECT_EQ(bench.template read<float>(bench.ranks[rank].to, rank, count), expected);
      }
    }
  });
}

TEST(VectorCollective, OperationsOfOtherStreamsAndAlgorithmsFollowEachOther) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(3U, [](auto& bench) {
    std::vector<std::unique_ptr<driver::ExecutionStream>> others;
    for (auto& rank : bench.ranks) {
      others.push_back(CollectiveBench::open_stream(rank));
    }
    constexpr std::uint64_t kCount = 5'000;
    for (unsigned rank = 0; rank < 3; ++rank) {
      bench.write(bench.ranks[rank].from, rank, std::vector<float>(kCount, 1.0F));
    }
    float expected = 1;
    for (unsigned turn = 0; turn < 7; ++turn) {
      expected *= 3;
      bench.run_all(
          [&](unsigned rank, const CollectiveCall& call) {
            CollectiveCall other = call;
            if (turn % 3 == 1) other.stream = others[rank].get();
            if (turn % 4 == 3) other.algorithm = CollectiveAlgorithm::kMesh;
            const auto from = turn == 0 ? bench.ranks[rank].from : bench.ranks[rank].to;
            auto mark = bench.all->all_reduce(rank, other, from, bench.ranks[rank].to, kCount,
                                              Reduction::kSum);
            EXPECT_TRUE(mark && mark->wait(bench.host.clock().now() + 1_s));
            return mark;
          },
          kFp32, kAiv);
      EXPECT_EQ(bench.template read<float>(bench.ranks[1].to, 1, kCount),
                std::vector<float>(kCount, expected));
    }
  });
}

// Those that read over the link have the fault. The others have all they need, and fail next.
TEST(VectorCollectiveFault, ALinkThatIsDownIsAnErrorOnEveryRank) {
  Machine machine({"hbm.fidelity=run"}, kEightCards);
  machine.run([&](platform::Platform& host) {
    CollectiveBench bench(host, 4);
    bench.run_all(sums(bench, 1000), kFp32, kAiv);
    machine.system.hccs().set_up(0, false);  // of cards 0 and 1
    const auto begin = host.clock().now();
    bench.try_all(sums(bench, 1000), kFp32, kAiv);
    expect_failed(bench, {0, 1});
    EXPECT_TRUE(must(bench.all->failure(0)));
    bench.try_all(sums(bench, 1000), kFp32, kAiv);
    expect_failed(bench, {0, 1, 2, 3});
    EXPECT_LT(host.clock().now() - begin, Picoseconds(6_ms));
  });
}

// In two phases nobody gets beyond the second meeting.
TEST(VectorCollectiveFault, OfTwoPhasesEveryRankFailsAtOnce) {
  Machine machine({"hbm.fidelity=run"}, kEightCards);
  machine.run([&](platform::Platform& host) {
    CollectiveBench bench(host, 4);
    bench.run_all(sums(bench, 10'000), kFp32, kAiv);
    machine.system.hccs().set_up(0, false);
    const auto begin = host.clock().now();
    bench.try_all(sums(bench, 10'000), kFp32, kAiv);
    expect_failed(bench, {0, 1, 2, 3});
    // Two launches of at most 32 KiB, each of which waits for the timeout of 2 ms.
    EXPECT_LT(host.clock().now() - begin, Picoseconds(5_ms));
  });
}

TEST(VectorCollectiveFault, ARankThatDoesNotComeEndsTheOthersInTime) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(3U, [](auto& bench) {
    const auto begin = bench.host.clock().now();
    const auto sum = sums(bench, 40'000);
    bench.try_all(
        [&](unsigned rank, const CollectiveCall& call) -> Result<StreamMark> {
          if (rank == 2) return StreamMark();
          return sum(rank, call);
        },
        kFp32, kAiv);
    expect_failed(bench, {0, 1});
    // Five launches of at most 32 KiB, each of which waits for the timeout of 2 ms.
    EXPECT_LT(bench.host.clock().now() - begin, Picoseconds(11_ms));
  });
}

TEST(VectorCollective, NeedsAKernel) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(2U, [](auto& bench) {
    auto options = CollectiveBench::options();
    options.vector.kernel = {};
    std::vector<driver::CommunicatorRank> members;
    for (auto& rank : bench.ranks) members.push_back({rank.process.get()});
    bench.all = must(Communicator::create(members, options));
    bench.try_all(sums(bench, 100), kFp32, kAiv);
    EXPECT_EQ(bench.ranks[0].ended.error().code, ErrorCode::kUnsupported);
    options = CollectiveBench::options();
    options.vector.half = 1000;
    EXPECT_EQ(Communicator::create(members, options).error().code, ErrorCode::kInvalidArgument);
    options.vector.half = 64_KiB;
    options.vector.blocks = 0;
    EXPECT_EQ(Communicator::create(members, options).error().code, ErrorCode::kInvalidArgument);
  });
}

// Flags are numbers also where nothing is computed.
TEST(VectorCollective, EndsWhereNothingIsComputed) {
  Machine({"hbm.fidelity=run", "core.functional=off"}, kEightCards)
      .on<CollectiveBench>(3U, [](auto& bench) {
        bench.run_all(sums(bench, 1000), kFp32, kAiv);
        bench.run_all(sums(bench, 20'000), kFp32, kAiv);
      });
}

// Reads of one rank after the other would have one of seven links carry at a time.
TEST(VectorCollective, LinksToAllRanksCarryAtAnyTime) {
  Machine machine({"hbm.fidelity=run"}, "system-16x910b2.yaml");
  machine.tells_configuration = true;
  const auto report = machine.workload(
      "collective",
      {"op=all_gather,all_reduce", "ranks=8", "sizes=4MiB", "algorithm=aiv", "iterations=1"});
  for (const std::string operation : {"all_gather", "all_reduce"}) {
    const auto name = "collective." + operation + ".aiv.fp32.4MiB.link_busy_percent";
    EXPECT_GT(metric(report, name), 2 * 100.0 / 7) << operation;
  }
}

}  // namespace
}  // namespace npu::test
