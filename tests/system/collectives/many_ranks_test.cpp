// SPDX-License-Identifier: Apache-2.0
// More ranks than a communicator opens all queues for at once.
#include "tests/system/collectives/collective_bench.hpp"
#include "tests/system/support/super_node.hpp"

namespace npu::test {
namespace {

constexpr unsigned kManyRanks = 70;

void expect_sums(CollectiveAlgorithm algorithm) {
  Machine machine(super_node(kManyRanks, {"hbm.fidelity=run"}));
  machine.run([algorithm](platform::Platform& host) {
    auto options = CollectiveBench::options();
    options.timeout = 100_ms;  // the last rank waits for a message that has passed all others
    CollectiveBench bench(host, kManyRanks, options);
    constexpr std::size_t kCount = 200;
    std::vector<int> sums(kCount);
    for (unsigned rank = 0; rank < kManyRanks; ++rank) {
      std::vector<int> values(kCount);
      for (unsigned i = 0; i < kCount; ++i) {
        values[i] = static_cast<int>((rank + 1) * (i + 3));
        sums[i] += values[i];
      }
      bench.write(bench.ranks[rank].from, rank, values);
    }
    for (unsigned turn = 0; turn < 2; ++turn) {
      bench.run_all(
          [&](unsigned rank, const CollectiveCall& call) {
            auto& own = bench.ranks[rank];
            return bench.all->all_reduce(rank, call, own.from, own.to, kCount, Reduction::kSum);
          },
          CollectiveType::kInt32, algorithm);
    }
    for (unsigned rank = 0; rank < kManyRanks; ++rank) {
      EXPECT_EQ(bench.read<int>(bench.ranks[rank].to, rank, kCount), sums) << "rank " << rank;
    }
  });
}

TEST(ManyRanks, AddUpInARing) {
  expect_sums(CollectiveAlgorithm::kRing);
}

TEST(ManyRanks, AddUpInStepsOfTwo) {
  expect_sums(CollectiveAlgorithm::kNhr);
}

TEST(ManyRanks, AreTooManyForVectorCores) {
  Machine machine(super_node(kManyRanks, {"hbm.fidelity=run"}));
  machine.on<CollectiveBench>(kManyRanks, [](CollectiveBench& bench) {
    auto& own = bench.ranks[69];
    const CollectiveCall call{own.stream.get(), CollectiveType::kInt32, CollectiveAlgorithm::kAiv};
    const auto refused = bench.all->all_reduce(69, call, own.from, own.to, 8, Reduction::kSum);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(refused.error().context, "aiv: at most 64 ranks, here are 70");
    EXPECT_NE(bench.all->choose(driver::CollectiveOperation::kAllReduce, 1024),
              CollectiveAlgorithm::kAiv);
  });
}

}  // namespace
}  // namespace npu::test
