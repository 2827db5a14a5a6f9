// SPDX-License-Identifier: Apache-2.0
// A link that is down, a rank that does not come or leaves: every rank's part ends with an error in
// time, and nothing hangs.
#include "tests/system/collectives/collective_bench.hpp"

namespace npu::test {
namespace {

constexpr unsigned kRanks = 4;

class CollectiveFault : public testing::TestWithParam<CollectiveAlgorithm> {};

// Some ranks have nothing to do with the link, but wait for those that have.
TEST_P(CollectiveFault, ALinkThatIsDownIsAnErrorOnEveryRank) {
  Machine machine({"hbm.fidelity=run"}, kEightCards);
  machine.run([&](platform::Platform& host) {
    CollectiveBench bench(host, kRanks);
    const auto reduce = [&](unsigned rank, const CollectiveCall& call) {
      return bench.all->all_reduce(rank, call, bench.ranks[rank].from, bench.ranks[rank].to,
                                   100'000, Reduction::kSum);
    };
    bench.run_all(reduce, CollectiveType::kFp32, GetParam());
    machine.system.hccs().set_up(0, false);  // of cards 0 and 1
    const auto begin = host.clock().now();
    bench.try_all(reduce, CollectiveType::kFp32, GetParam());
    for (const auto& rank : bench.ranks) {
      ASSERT_FALSE(rank.ended);
      EXPECT_EQ(rank.ended.error().code, ErrorCode::kDeviceFault) << rank.ended.error().message();
    }
    EXPECT_LT(host.clock().now() - begin, Picoseconds(3_ms));
    EXPECT_TRUE(must(bench.all->failure(1)));
    // From then on each rank that has failed says so at once.
    bench.try_all(reduce, CollectiveType::kFp32, GetParam());
    EXPECT_EQ(bench.ranks[1].ended.error().code, ErrorCode::kDeviceFault);
  });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, CollectiveFault,
                         testing::Values(CollectiveAlgorithm::kMesh, CollectiveAlgorithm::kRing,
                                         CollectiveAlgorithm::kHalvingDoubling),
                         [](const auto& each) { return std::string(to_string(each.param)); });

// In the middle of the transfers.
TEST(CollectiveFaults, ALinkThatGoesDownMeanwhile) {
  Machine machine({"hbm.fidelity=run"}, kEightCards);
  machine.run([&](platform::Platform& host) {
    CollectiveBench bench(host, kRanks);
    auto task = must(host.tasks().spawn("down", [&] {
      host.clock().sleep_until(host.clock().now() + 60_us);
      machine.system.hccs().set_up(1, false);  // of cards 0 and 2
    }));
    bench.try_all([&](unsigned rank, const CollectiveCall& call) {
      return bench.all->all_reduce(rank, call, bench.ranks[rank].from, bench.ranks[rank].to,
                                   1'500'000, Reduction::kSum);
    });
    task->join();
    for (const auto& rank : bench.ranks) EXPECT_FALSE(rank.ended);
  });
}

TEST(CollectiveFaults, ARankThatDoesNotComeEndsTheOthers) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(3U, [](CollectiveBench& bench) {
    const auto begin = bench.host.clock().now();
    bench.try_all([&](unsigned rank, const CollectiveCall& call) -> Result<StreamMark> {
      if (rank == 2) return StreamMark();
      return bench.all->barrier(rank, call);
    });
    EXPECT_FALSE(bench.ranks[0].ended);
    EXPECT_FALSE(bench.ranks[1].ended);
    EXPECT_TRUE(bench.ranks[2].ended);
    EXPECT_LT(bench.host.clock().now() - begin, Picoseconds(3_ms));
  });
}

TEST(CollectiveFaults, ARankThatLeavesEndsTheCommunicatorAndNothingElse) {
  Machine({"hbm.fidelity=run"}, kEightCards).on<CollectiveBench>(3U, [](CollectiveBench& bench) {
    const auto meet = [&](unsigned rank, const CollectiveCall& call) {
      return bench.all->barrier(rank, call);
    };
    bench.run_all(meet);
    EXPECT_TRUE(bench.all->leave(1, bench.host.clock().now() + 1_ms));
    auto& left = bench.ranks[1];
    left.stream.reset(), left.copies.reset(), left.arguments.reset();
    EXPECT_TRUE(left.process->space().free(left.from));
    EXPECT_TRUE(left.process->close());
    const auto refused = bench.all->barrier(0, {bench.ranks[0].stream.get()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kDeviceFault);
    EXPECT_NE(refused.error().context.find("rank 1 has left"), std::string::npos);
    EXPECT_TRUE(bench.ranks[0].stream->wait(bench.host.clock().now() + 1_ms));
  });
}

}  // namespace
}  // namespace npu::test
